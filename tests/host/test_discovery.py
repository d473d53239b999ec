"""Discovery, on real distributions that are laid down in a folder and found by the import system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from olav_core import PluginError, Registry, build_registry
from olav_core.host.discovery import find_refs, load_file, may_implement, stale_entry_points
from olav_core.testing import FakeDistributions

GOOD = """
from olav_core import CategorySpec, hookimpl

@hookimpl
def olav_register_categories():
    return [CategorySpec(id="{id}", title="T", purpose="P")]
"""


@pytest.fixture
def site(olav_site: FakeDistributions) -> FakeDistributions:
    return olav_site


def strangers(plugin_dir: Path | None = None, **options: Any) -> Registry:
    """A registry of what is found, without the built-ins: they are tested where they live."""
    refs = [ref for ref in find_refs(plugin_dir) if not ref.builtin]
    return build_registry(refs, **{"disabled": (), "strict": False, **options})


def test_broken_distributions_are_named_and_the_good_one_loads(site: FakeDistributions) -> None:
    site.add("acme-good", {"good": "acme_good"}, {"acme_good.py": GOOD.format(id="good")}, version="3.1")
    site.add("acme-missing", {"missing": "acme_nowhere"})
    site.add("acme-needs", {"needs": "acme_needs"}, {"acme_needs.py": "import not_installed_anywhere\n"})
    site.add("acme-raises", {"raises": "acme_raises"}, {"acme_raises.py": "x = 1\n\n1 / 0\n"})
    site.add("acme-syntax", {"syntax": "acme_syntax"}, {"acme_syntax.py": "def f(:\n"})
    site.add("acme-exits", {"exits": "acme_exits"}, {"acme_exits.py": "import sys\nsys.exit(3)\n"})
    site.add("acme-attr", {"attr": "acme_good:nothing_here"})
    site.add("acme-class", {"class": "acme_class:Ticket"}, {"acme_class.py": "class Ticket: ...\n"})
    site.add("acme-value", {"value": "not a module!"})
    site.add(
        "acme-typo",
        {"typo": "acme_typo"},
        {"acme_typo.py": GOOD.format(id="typo").replace("register_categories", "register_categoris")},
    )
    registry = strangers()
    assert list(registry.categories) == ["good"]
    faults = {fault.distribution: str(fault) for fault in registry.faults}
    expected = {
        "acme-missing": "Install acme-missing again",
        "acme-needs": "Install the package that brings the module 'not_installed_anywhere'",
        "acme-raises": "ZeroDivisionError: division by zero",
        "acme-syntax": "SyntaxError",
        "acme-exits": "SystemExit: 3",
        "acme-attr": "nothing_here",
        "acme-class": "names the class Ticket",
        "acme-value": "is not 'module' or 'module:object'",
        "acme-typo": "Did you mean 'olav_register_categories'?",
    }
    assert set(faults) == set(expected)
    for distribution, words in expected.items():
        assert words in faults[distribution]
        assert faults[distribution].startswith(f"{distribution} 1.0, entry point '")
    assert "acme_raises.py:3" in faults["acme-raises"]
    info = registry.owner("categories", "good")
    assert (info.distribution, info.version, info.entry_point) == ("acme-good", "3.1", "acme_good")
    assert info.file == site.folder / "acme_good.py"


def test_one_entry_point_name_in_two_distributions_is_reported(site: FakeDistributions) -> None:
    site.add("acme-one", {"ticket": "acme_one"}, {"acme_one.py": GOOD.format(id="one")})
    site.add("acme-two", {"ticket": "acme_two"}, {"acme_two.py": GOOD.format(id="two")})
    registry = strangers()
    assert not registry.categories
    assert all("the entry-point name 'ticket' is taken" in str(fault) for fault in registry.faults)
    assert {info.state for info in registry.plugins} == {"broken"}
    assert list(strangers(disabled=["acme-one:ticket"]).categories) == ["two"]


def test_a_name_twice_within_one_distribution_is_reported(site: FakeDistributions) -> None:
    site.add("acme-one", "ticket = acme_one\nticket = acme_two", {"acme_one.py": GOOD.format(id="one")})
    assert len(strangers().faults) == 2


def test_an_unreadable_entry_points_file_stops_nobody_else(site: FakeDistributions) -> None:
    site.add("acme-bad", "this line has no equals sign")
    site.add("acme-good", {"good": "acme_good"}, {"acme_good.py": GOOD.format(id="good")})
    registry = strangers()
    assert list(registry.categories) == ["good"]
    assert [fault.distribution for fault in registry.faults] == ["acme-bad"]


def test_a_shadowed_copy_of_a_distribution_does_not_count(site: FakeDistributions, tmp_path: Path) -> None:
    site.add("acme-good", {"good": "acme_good"}, {"acme_good.py": GOOD.format(id="good")}, version="2.0")
    older = FakeDistributions(tmp_path / "older")
    older.add("Acme.Good", {"good": "acme_good", "gone": "acme_gone"}, version="1.0")
    sys.path.append(str(older.folder))
    try:
        registry = strangers()
    finally:
        sys.path.remove(str(older.folder))
    assert [(info.name, info.version) for info in registry.plugins] == [("good", "2.0")]


def test_single_files_of_a_workspace_are_plug_ins(tmp_path: Path) -> None:
    folder = tmp_path / ".olav" / "plugins"
    folder.mkdir(parents=True)
    (folder / "ticket.py").write_text(
        dedent(
            """
            from __future__ import annotations
            from attrs import frozen
            from olav_core import CategorySpec, hookimpl

            @frozen
            class Meta:
                number: int

            @hookimpl
            def olav_register_categories():
                return [CategorySpec(id="ticket", title="T", purpose="P", metadata=Meta)]
            """
        )
    )
    (folder / "bad.py").write_text("1 / 0\n")
    (folder / "_draft.py").write_text("raise AssertionError\n")
    (folder / "json.py").write_text(GOOD.format(id="named_like_a_module"))
    path, modules = list(sys.path), set(sys.modules)
    registry = strangers(folder)
    assert sorted(registry.categories) == ["named_like_a_module", "ticket"]
    assert [str(fault).split(":")[0] for fault in registry.faults] == ["workspace plug-in bad.py"]
    assert registry.owner("categories", "ticket").file == folder / "ticket.py"
    assert sys.path == path
    assert all(name.startswith("_olav_workspace_") for name in set(sys.modules) - modules)
    assert sorted(item.name for item in folder.iterdir()) == ["_draft.py", "bad.py", "json.py", "ticket.py"]
    assert not strangers(folder, disabled=["ticket", "json", "bad"]).categories
    assert not strangers(tmp_path / "absent").plugins


def test_an_edited_file_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    for value in (1, 2):
        file.write_text(f"VALUE = {value}\n")
        assert load_file(file).VALUE - value == 0


def test_the_fast_path_imports_only_what_may_bring_commands(site: FakeDistributions) -> None:
    commands = """
        from olav_core import CommandSpec, hookimpl

        @hookimpl
        def olav_register_commands():
            return [CommandSpec(id="{id}", help="Help.", load=lambda: None)]
        """
    starred = "from acme_pkg.hooks import *\n"
    site.add("acme-plain", {"plain": "acme_plain"}, {"acme_plain.py": "raise AssertionError('imported')\n"})
    site.add("acme-cmd", {"cmd": "acme_cmd"}, {"acme_cmd.py": commands.format(id="cmd")})
    site.add(
        "acme-pkg",
        {"pkg": "acme_pkg", "deep": "acme_pkg.sub.deep", "attr": "acme_pkg.obj:plugin"},
        {
            "acme_pkg/__init__.py": starred,
            "acme_pkg/hooks.py": commands.format(id="star"),
            "acme_pkg/sub/__init__.py": "",
            "acme_pkg/sub/deep.py": commands.format(id="deep"),
            "acme_pkg/obj.py": "import acme_cmd2 as plugin\n",
            "acme_cmd2.py": commands.format(id="attr"),
        },
    )
    site.add("acme-gone", {"gone": "acme_not_there"})
    hooks = ("olav_register_commands",)
    may = {ref.name: may_implement(ref, hooks) for ref in find_refs() if not ref.builtin}
    assert may == {"plain": False, "cmd": True, "pkg": True, "deep": True, "attr": True, "gone": True}
    registry = strangers(kinds=("commands",))
    assert sorted(registry.commands) == ["attr", "cmd", "deep", "star"]
    assert "acme_plain" not in sys.modules
    assert [fault.plugin for fault in registry.faults] == ["gone"]


def test_an_editable_distribution_that_gained_an_entry_point_is_told(
    site: FakeDistributions, tmp_path: Path
) -> None:
    project = tmp_path / "my project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "acme-edit"\n'
        '[project.entry-points."olav.plugins"]\nold = "acme_old"\nnew = "acme_new"\n'
    )
    site.add("acme-edit", {"old": "acme_old"}, editable=project)
    assert stale_entry_points()["acme-edit"] == ("new",)


def test_strict_mode_and_switches_work_from_the_environment(tmp_path: Path) -> None:
    site = FakeDistributions(tmp_path)
    site.add("acme-bad", {"bad": "acme_bad"}, {"acme_bad.py": "1 / 0\n"})
    script = """
        from olav_core import PluginError, build_registry
        from olav_core.host.discovery import find_refs
        refs = [ref for ref in find_refs() if not ref.builtin]
        try:
            print([plugin.state for plugin in build_registry(refs).plugins])
        except PluginError as error:
            print("raised", "acme-bad 1.0" in str(error))
        """

    def run(**variables: str) -> str:
        environ = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        done = subprocess.run(
            [sys.executable, "-c", dedent(script)], env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert run() == "['broken']"
    assert run(OLAV_STRICT="1") == "raised True"
    assert run(OLAV_STRICT="1", OLAV_DISABLE="bad") == "['disabled']"


def test_a_stranger_cannot_break_or_replace_a_built_in(site: FakeDistributions) -> None:
    source = GOOD.format(id="hashing_category").replace("hashing_category", "mine")
    site.add("acme-hashing", {"hashing": "acme_hashing"}, {"acme_hashing.py": source})
    refs = [ref for ref in find_refs() if ref.name == "hashing"]
    assert [ref.builtin for ref in refs] == [False, True]
    registry = build_registry(refs, disabled=(), strict=False)
    assert list(registry.embedders) == ["hashing"]
    assert not registry.categories
    with pytest.raises(PluginError, match="olav-core"):
        build_registry(refs, disabled=(), strict=True)


def test_a_plug_in_with_a_body_that_is_indented_wrongly_names_its_line(site: FakeDistributions) -> None:
    site.add("acme-indent", {"i": "acme_indent"}, {"acme_indent.py": "x = 1\n" + indent("y = 2\n", "  ")})
    assert "acme_indent.py:2" in str(strangers().faults[0])
