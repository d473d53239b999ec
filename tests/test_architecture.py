"""The rules of the house: who may import whom, and that the facade and its types agree."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import olav_core
from olav_core.config import DEFAULT_RANKERS
from olav_core.host.validation import SPEC_TYPES

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SOURCE_ROOTS = [ROOT / source for source in PROJECT["tool"]["hatch"]["build"]["sources"]]
CORE_FILES = sorted((ROOT / "olav_core").rglob("*.py"))


def plugin_files() -> dict[Path, str]:
    """Every source file of a plug-in -> the top-level name that it belongs to."""
    files = {}
    for root in SOURCE_ROOTS:
        for path in sorted(root.rglob("*.py")):
            files[path] = path.relative_to(root).parts[0].removesuffix(".py")
    return files


PLUGIN_FILES = plugin_files()
#: Modules that a host imports; they register nothing, so they need no entry point.
LIBRARIES = {"olav_deepagents"}
PLUGINS = set(PLUGIN_FILES.values())
LOADERS = ("import_module", "__import__", "find_spec", "run_module")


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every absolute import of a file, at whatever depth, by statement or by a call with its name, as
    (dotted name, line)."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or "", node.lineno
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).rpartition(".")[2]
            name = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            if called in LOADERS and isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value, node.lineno


def core_names(path: Path) -> Iterator[tuple[str, int]]:
    """Every name that a file takes from olav_core itself, as (name, line)."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "olav_core" and not node.level:
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "olav_core":
            yield node.attr, node.lineno


def trespasses(path: Path, own: str, plugins: set[str], root: Path = ROOT) -> list[str]:
    """What a plug-in's file takes that is not its own: another plug-in, a submodule, a private name."""
    foreign = plugins - {own} | {"plugins", "embedders"}
    wrong = [
        f"{path.relative_to(root)}:{line} imports {name}"
        for name, line in imports(path)
        if name.partition(".")[0] in foreign
        or (name.startswith("olav_core.") and name != "olav_core.testing")
    ]
    public = {*olav_core.__all__, "__version__", "testing"}
    return wrong + [
        f"{path.relative_to(root)}:{line} takes olav_core.{name}"
        for name, line in core_names(path)
        if name not in public
    ]


def shown(path: Path, line: int, name: str) -> str:
    return f"{path.relative_to(ROOT)}:{line} imports {name}"


def test_core_imports_no_plug_in() -> None:
    assert PLUGINS
    wrong = [
        shown(path, line, name)
        for path in CORE_FILES
        for name, line in imports(path)
        if name.partition(".")[0] in PLUGINS | {"plugins", "embedders"}
    ]
    assert not wrong


#: Words of the core that a plug-in is called by, too: (word, what it means here).
WORDS = {
    "active": "a status of succession",
    "audit": "an origin",
    "decision": "a field of a trace",
    "distance": "a field of a trace",
    "document": "an origin",
    "drafts": "a count of a report",
    "format": "a key of files and fingerprints",
    "guide": "what people call it in a message",
    "on_intent": "a layer of the context, and what a memory says of its loading",
    "onnx": "a library's name",
    "queries": "a count of a report",
    "store": "a part of a workspace",
    "use": "a word in a message",
    "vector": "a column of the table",
    "verbs": "a fixture's name",
}
#: Files that may name a plug-in, and which: each is a default that a caller or a setting changes.
DEFAULTS = {
    "capture/event.py": {"operational_event"},  # the category that capture writes, fixed by its contract
    "cli/init.py": {"e5"},
    "cli/remember.py": {"fact"},
    "config.py": {*DEFAULT_RANKERS, "e5"},
    "drafts/drafts.py": {"usage_guide"},
    "memory.py": {"fact", "usage_guide", "format_guide"},  # import_guides, import_formats
    "opening.py": {"e5"},
    "testing/corpus.py": {"fact"},
    "testing/ranker.py": {"vector"},
    "testing/workspaces.py": {"hashing", "fact", "vector", "bm25"},
}  # fmt: skip


def test_core_names_no_plug_in() -> None:
    registry = olav_core.build_registry(disabled=())
    ids = {id for kind in SPEC_TYPES for id in getattr(registry, kind)}
    assert {"usage_guide", "e5", "olav_e5"} & ids == {"usage_guide", "e5"}
    named: dict[str, set[str]] = {}
    for path in CORE_FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ids:
                named.setdefault(path.relative_to(ROOT / "olav_core").as_posix(), set()).add(node.value)
    wrong = {file: found - set(WORDS) - DEFAULTS.get(file, set()) for file, found in named.items()}
    assert not {file: found for file, found in wrong.items() if found}


def test_a_plug_in_imports_only_the_facade_and_never_another_plug_in() -> None:
    assert len(PLUGIN_FILES) > 100, "nothing was looked at"
    wrong = [found for path, own in PLUGIN_FILES.items() for found in trespasses(path, own, PLUGINS)]
    assert not wrong


@pytest.mark.parametrize(
    "line",
    [
        "from olav_langchain import AutoRecallMiddleware",
        "import olav_langchain.messages as messages",
        "from plugins.integrations import olav_langchain",
        "from olav_core.memory import Memory",
        "import olav_core.store.table",
        "from olav_core import writer",
        "from olav_core import _PUBLIC",
        "def late():\n    from olav_langchain.recall import TIME_BUDGET",
        "from importlib import import_module\nimport_module('olav_langchain')",
        "import importlib\nimportlib.import_module(f'olav_langchain.{name}')",
        "import olav_core\nolav_core.engine.Engine",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import olav_langchain",
    ],
)
def test_a_planted_trespass_is_found(tmp_path: Path, line: str) -> None:
    planted = tmp_path / "olav_ticket.py"
    planted.write_text(f"from olav_core import Memory, hookimpl\n{line}\n", "utf-8")
    assert len(trespasses(planted, "olav_ticket", PLUGINS | {"olav_ticket"}, tmp_path)) == 1


def test_what_a_plug_in_may_import_is_no_trespass(tmp_path: Path) -> None:
    fine = tmp_path / "olav_ticket" / "gate.py"
    fine.parent.mkdir()
    fine.write_text(
        "import olav_core\nfrom olav_core import Memory\nfrom olav_core.testing import GateContract\n"
        "from olav_ticket.rows import rows\nimport langchain\nolav_core.open('x')\n",
        "utf-8",
    )
    assert not trespasses(fine, "olav_ticket", PLUGINS | {"olav_ticket"}, tmp_path)


def test_every_plug_in_has_an_entry_point_and_every_entry_point_a_module() -> None:
    points = PROJECT["project"]["entry-points"]["olav.plugins"]
    assert set(points.values()) == PLUGINS - LIBRARIES
    assert len(set(points.values())) == len(points)


def test_the_import_contracts_hold() -> None:
    command = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or "lint-imports"
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) dependencies", done.stdout)
    assert found
    assert int(found[1]) > 100, "nothing was looked at"


def typed_names() -> dict[str, str]:
    """The names that olav_core/__init__.py imports for type checkers -> their modules."""
    tree = ast.parse((ROOT / "olav_core" / "__init__.py").read_text("utf-8"))
    blocks = [
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {
        alias.asname or "": (node.module or "").removeprefix("olav_core").removeprefix(".")
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }


def test_type_checkers_see_the_names_that_the_facade_gives() -> None:
    typed = typed_names()
    missing = [
        f"from olav_core.{module} import {name} as {name}"
        for name, module in olav_core._PUBLIC.items()
        if typed.get(name) != module
    ]
    assert not missing, "add to the TYPE_CHECKING block of olav_core/__init__.py"
    assert set(typed) == set(olav_core._PUBLIC)


@pytest.mark.parametrize("name", olav_core.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(olav_core, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        olav_core.no_such_name  # noqa: B018
