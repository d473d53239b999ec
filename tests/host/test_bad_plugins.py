"""Bad plug-ins as real distributions: each is named with version, entry point and mend; the good one works.

Fakes lie on the import path as an installer would leave them; test_registry.py has the finer points.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from attrs import frozen

from olav_core import Memory, PluginFault, PluginInfo, Registry, build_registry
from olav_core.host import loading
from olav_core.host.discovery import find_refs, stale_entry_points
from olav_core.testing import FakeDistributions

HEAD = """
from olav_core import *
from olav_core import hookimpl
TICKET = dict(title="Ticket", purpose="Solved tickets")
"""
GOOD = f"""{HEAD}
@hookimpl
def olav_register_categories():
    return [CategorySpec(id="good", **TICKET)]
"""


@frozen
class Bad:
    """What `acme-bad 2.1` holds, and what must be said of it. `whole`: nothing of the plug-in is left."""

    name: str
    source: str
    words: str
    mend: str = ""
    whole: bool = True
    value: str = "acme_bad"


def hook(body: str, signature: str = "olav_register_categories()") -> str:
    return f"{HEAD}\n@hookimpl\ndef {signature}:\n    {body}\n"


CASES = (
    Bad("import error", "import no_such_module", "ModuleNotFoundError", "brings the module 'no_such_module'"),
    Bad(
        "raises at import",
        "x = 1\n\n1 / 0",
        "ZeroDivisionError: division by zero (",
        "OLAV_DISABLE=acme-bad:bad",
    ),
    Bad("syntax error", "def f(:", "SyntaxError", "Mend the module"),
    Bad("exits", "raise SystemExit(3)", "SystemExit: 3", "Mend the module"),
    Bad("module not there", "", "No module named 'acme_gone'", "Install acme-bad again", value="acme_gone"),
    Bad("object not there", "", "nothing_here", value="acme_bad:nothing_here"),
    Bad(
        "a class", "class Ticket: ...", "it names the class Ticket", "or an instance", value="acme_bad:Ticket"
    ),
    Bad("no hook at all", "x = 1", "implements no hook", "@hookimpl"),
    Bad(
        "not marked",
        f"{HEAD}\ndef olav_register_gates():\n    return []",
        "olav_register_gates lacks its mark",
        "@hookimpl",
    ),
    Bad(
        "misspelt hook",
        hook("return []", "olav_register_category()"),
        "Did you mean 'olav_register_categories'?",
        "Rename",
    ),
    Bad(
        "wrong argument",
        hook("return []", "olav_register_gates(registry)"),
        "has no argument 'registry'",
        "Write it as `def olav_register_gates()`",
    ),
    Bad(
        "default parameter",
        hook("pass", "olav_memory_written(record=None)"),
        "gives record a default",
        "`def olav_memory_written(record)`",
    ),
    Bad(
        "keyword-only parameter",
        hook("pass", "olav_memory_written(*, record)"),
        "keyword-only record",
        "`def olav_memory_written(record)`",
    ),
    Bad(
        "async",
        hook("pass", "olav_memory_written(record)").replace("\ndef ", "\nasync def "),
        "is async",
        "`def`",
    ),
    Bad(
        "imported hookimpl",
        "from acme_good import olav_register_categories",
        "imported from acme_good",
        "Define the function here",
    ),
    Bad(
        "hook raises", hook("raise ValueError('no table')"), "raised ValueError: no table (", "Mend the hook"
    ),
    Bad("returns one spec", hook("return CategorySpec(id='bad', **TICKET)"), "not a list", "Return a list"),
    Bad("returns a class", hook("return [CategorySpec]"), "where CategorySpec is expected", "instances"),
    Bad("returns nothing", hook("return None"), "returned NoneType", "Return a list"),
    Bad("wrong field", hook("return [CategorySpec(id='bad', qouta=1, **TICKET)]"), "qouta"),
    Bad(
        "half registration",
        hook("return [CategorySpec(id='bad', **TICKET)]") + hook("1 / 0", "olav_register_gates()"),
        "olav_register_gates raised ZeroDivisionError",
        "Mend the hook",
    ),
    Bad(
        "names a gate that is missing",
        hook("return [CategorySpec(id='bad', gates=(GateUse('distnce'),), **TICKET)]"),
        "gate 'distnce' is not registered. Did you mean 'distance'?",
        "install the plug-in that brings the gate",
    ),
    Bad(
        "names a boost that is missing",
        hook("return [CategorySpec(id='bad', boosts=('keyword_bost',), **TICKET)]"),
        "no boost ranker 'keyword_bost' is registered. Did you mean 'keyword_boost'?",
        "Mend the name",
    ),
    Bad(
        "importer without its category",
        hook(
            "return [ImporterSpec(id='bad', purpose='P', suffixes=('.bad',), category='ticket',"
            " parse=lambda root, path, raw: ((), ()))]",
            "olav_register_importers()",
        ),
        "its category 'ticket' is not registered",
        "install the plug-in that brings the category",
    ),
    Bad(
        "a draft_file of a suffix that it does not read",
        hook(
            "from olav_core import DraftFile\n"
            "    return [ImporterSpec(id='bad', purpose='P', suffixes=('.bad',), category='fact',"
            " parse=lambda root, path, raw: ((), ()),"
            " draft_file=DraftFile(folder='bad', suffix='.md', write=len))]",
            "olav_register_importers()",
        ),
        "draft_file.suffix '.md' is none of its suffixes",
        "Name one of `suffixes`",
    ),
    Bad(
        "the id of a built-in",
        hook("return [CategorySpec(id='fact', **TICKET)]"),
        "the id 'fact' is registered by others too: olav-core ",
        "OLAV_DISABLE=",
    ),
)


def look() -> Registry:
    return build_registry(disabled=(), strict=False)


def only(faults: tuple[PluginFault, ...]) -> PluginFault:
    assert len(faults) == 1, [str(fault) for fault in faults]
    return faults[0]


def info(registry: Registry, name: str) -> PluginInfo:
    return next(plugin for plugin in registry.plugins if plugin.name == name)


@pytest.fixture
def site(olav_site: FakeDistributions) -> FakeDistributions:
    olav_site.add("acme-good", {"good": "acme_good"}, {"acme_good.py": GOOD}, version="3.1")
    return olav_site


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_a_bad_one_is_named_with_its_mend_and_hurts_nobody(case: Bad, site: FakeDistributions) -> None:
    site.add("acme-bad", {"bad": case.value}, {"acme_bad.py": case.source}, version="2.1")
    registry = look()
    assert info(registry, "good").state == "loaded"
    assert {"good", "fact"} <= set(registry.categories)
    fault = only(registry.faults)
    told = str(fault)
    assert told.startswith(f"acme-bad 2.1, entry point 'bad = {case.value}'")
    assert case.words in fault.message
    assert fault.mend
    assert case.mend in fault.mend
    assert info(registry, "bad").state == "broken"
    assert not info(registry, "bad").ids


def test_two_distributions_with_one_id_name_each_other(site: FakeDistributions) -> None:
    for name in ("one", "two"):
        source = hook("return [CategorySpec(id='ticket', **TICKET)]")
        site.add(f"acme-{name}", {name: f"acme_{name}"}, {f"acme_{name}.py": source}, version="1.2")
    registry = look()
    assert "ticket" not in registry.categories
    first, second = sorted(map(str, registry.faults))
    assert first.startswith("acme-one 1.2")
    assert "acme-two 1.2, entry point 'two = acme_two'" in first
    assert "acme-one 1.2" in second
    assert "OLAV_DISABLE=acme-one:one or acme-two:two" in first
    assert "ticket" in build_registry(disabled=["acme-two:two"], strict=False).categories


def test_one_entry_point_name_twice_is_told_for_both(site: FakeDistributions) -> None:
    for name in ("one", "two"):
        site.add(f"acme-{name}", {"desk": f"acme_{name}"}, {f"acme_{name}.py": GOOD.replace("good", name)})
    registry = look()
    told = sorted(map(str, registry.faults))
    assert len(told) == 2
    assert "the entry-point name 'desk' is taken: acme-two 1.0" in told[0]
    assert "Rename one, uninstall one, or switch one off" in told[0]
    assert {"one", "two"}.isdisjoint(registry.categories)


def test_an_entry_point_that_needs_a_reinstall_is_told(site: FakeDistributions, tmp_path: Path) -> None:
    project = tmp_path / "acme-desk"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "acme-desk"\n[project.entry-points."olav.plugins"]\n'
        'desk = "acme_desk"\nnew_desk = "acme_new_desk"\n'
    )
    source = GOOD.replace("good", "desk")
    site.add("acme-desk", {"desk": "acme_desk"}, {"acme_desk.py": source}, editable=project)
    assert stale_entry_points() == {"acme-desk": ("new_desk",)}
    assert "desk" in look().categories


def test_a_slow_import_is_a_warning_with_its_time(
    site: FakeDistributions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "SLOW_IMPORT", 0.05)
    source = f"import time\ntime.sleep(0.1)\n{dedent(GOOD).replace('good', 'slow')}"
    site.add("acme-slow", {"slow": "acme_slow"}, {"acme_slow.py": source})
    # A busy machine may make the good one slow, too.
    registry = build_registry([ref for ref in find_refs() if ref.name == "slow"], disabled=(), strict=True)
    fault = only(registry.faults)
    assert fault.warning
    assert str(fault).startswith("acme-slow 1.0, entry point 'slow = acme_slow'")
    assert "its import took 0.1 s" in fault.message
    assert "inside factories" in fault.mend
    assert "slow" in registry.categories
    assert info(registry, "slow").seconds >= 0.1


def test_an_observer_that_raises_is_named_and_the_memory_goes_on(
    site: FakeDistributions, olav_open: Callable[..., Memory], caplog: pytest.LogCaptureFixture
) -> None:
    source = HEAD + dedent(
        """
        @hookimpl
        def olav_memory_written(record):
            raise RuntimeError("the metrics server is down")

        @hookimpl
        def olav_memories_recalled(recall):
            raise RuntimeError("still down")
        """
    )
    site.add("acme-watch", {"watch": "acme_watch"}, {"acme_watch.py": source}, version="0.3")
    memory = olav_open()
    with caplog.at_level(logging.WARNING):
        memory.remember("R1 is the border router")
        recall = memory.recall("border router")
        memory.recall("border router")
    assert [item.text for item in recall.items] == ["R1 is the border router"]
    assert not recall.degraded
    (label,) = memory.registry.observer_failures
    assert label.startswith("acme-watch 0.3, entry point 'watch = acme_watch'")
    assert memory.registry.observer_failures[label] == 3
    assert "acme-watch 0.3" in caplog.text
    assert "the operation stands" in caplog.text


MISBEHAVING = HEAD + dedent(
    """
    import types

    def thing(**methods):
        return lambda options: types.SimpleNamespace(**methods)

    def fails(*arguments):
        raise RuntimeError("out of order")

    @hookimpl
    def olav_register_rankers():
        return [
            RankerSpec(id="bad_leg", stage="retrieve", purpose="P", factory=thing(scores=lambda q, p: [1.0])),
            RankerSpec(id="bad_boost", stage="boost", purpose="P", factory=thing(boosts=fails)),
            RankerSpec(id="bad_rerank", stage="rerank", purpose="P", factory=thing(rerank=lambda q, c: "x")),
            RankerSpec(id="bad_spread", stage="diversify", purpose="P", factory=thing(penalty=fails)),
        ]

    @hookimpl
    def olav_register_gates():
        return [GateSpec(id="bad_gate", purpose="P", factory=thing(decide=lambda q, c: None))]

    @hookimpl
    def olav_register_categories():
        return [
            CategorySpec(id="bad_render", render=fails, **TICKET),
            CategorySpec(id="gated", gates=(GateUse("bad_gate"),), **TICKET),
        ]
    """
)


def test_specs_that_misbehave_in_a_recall_degrade_it_by_name(
    site: FakeDistributions, olav_open: Callable[..., Memory]
) -> None:
    site.add("acme-unruly", {"unruly": "acme_unruly"}, {"acme_unruly.py": MISBEHAVING})
    rankers = ["vector", "bm25", "score_fusion", "bad_leg", "bad_boost", "bad_rerank", "bad_spread"]
    memory = olav_open("acme_unruly", config={"recall": {"rankers": rankers}})
    for category in ("fact", "bad_render", "gated"):
        memory.remember(f"R1 is the border router, {category}", category=category)
    recall = memory.recall("border router", tier="large")
    assert {item.category for item in recall.items} == {"fact", "bad_render"}
    assert "R1 is the border router, bad_render" in recall.block
    told = {line.partition(":")[0] for line in recall.degraded}
    assert told == {"bad_leg", "bad_boost", "bad_rerank", "bad_spread", "gate bad_gate", "render bad_render"}


def test_options_that_a_factory_refuses_name_the_embedder(
    site: FakeDistributions, olav_open: Callable[..., Memory]
) -> None:
    source = HEAD + dedent(
        """
        @hookimpl
        def olav_register_embedders():
            return [EmbedderSpec(id="house", title="House", factory=lambda options: options["path"])]
        """
    )
    site.add("acme-house", {"house": "acme_house"}, {"acme_house.py": source})
    with pytest.raises(Exception, match="embedder 'house' does not take its options"):
        olav_open("acme_house", embedder="house")


def test_a_broken_one_leaves_the_command_line_whole(site: FakeDistributions) -> None:
    """The registry that `olav plugins` shows has every fault, with the words above."""
    from olav_core.cli.extension import survey

    site.add("acme-bad", {"bad": "acme_bad"}, {"acme_bad.py": "1 / 0"})
    registry: Any = survey(None)
    assert only(registry.faults).distribution == "acme-bad"
    assert registry.category("good").title == "Ticket"
