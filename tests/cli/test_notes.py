"""Small words that keep a person from a wrong turn: an agent nobody knows, a workspace inside another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import olav_core
from olav_core import Drafts

Olav = Callable[..., Result]
ObjectOf = Callable[..., Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    with olav_core.init(root, embedder="hashing") as memory:
        memory.remember("R1 在上海", scope="netops")
        memory.remember("The office opens at nine")
    return root


@pytest.mark.parametrize("command", ["recall", "context"])
def test_an_agent_that_nobody_knows_is_told_with_the_one_meant(
    olav: Olav, object_of: ObjectOf, root: Path, command: str
) -> None:
    found = object_of(command, "office hours", "--agent", "netop", "-w", root)
    (note,) = (warning for warning in found["warnings"] if "not known" in warning)
    assert "'netop'" in note
    assert "Did you mean 'netops'?" in note
    assert "office opens" in found["block"], "the results are as before"
    shown = olav(command, "办公室", "--agent", "前台", "-w", root)
    assert shown.exit_code == 0
    assert "'前台' is not known" in shown.stderr
    assert "core, netops" in shown.stderr


@pytest.mark.parametrize("agent", ["netops", "core", "configured"])
def test_a_known_agent_is_not_told(object_of: ObjectOf, root: Path, agent: str) -> None:
    with (root / ".olav" / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("\nagents:\n  configured:\n    teams: [noc]\n")
    assert not [w for w in object_of("recall", "R1", "-a", agent, "-w", root)["warnings"] if "known" in w]


def test_scopes_that_are_named_need_no_agent(object_of: ObjectOf, root: Path) -> None:
    found = object_of("recall", "R1", "-a", "nobody", "-s", "netops", "-w", root)
    assert "R1" in found["block"]
    assert not [w for w in found["warnings"] if "known" in w]


def test_a_workspace_inside_another_says_so(olav: Olav, object_of: ObjectOf, root: Path) -> None:
    inner = root / "netops" / "lab"
    found = object_of("init", inner, "--embedder", "hashing")
    assert found["created"]
    assert [w for w in found["warnings"] if f"inside the workspace {root.resolve()}" in w]
    beside = object_of("init", root.parent / "beside", "--embedder", "hashing")
    assert not [w for w in beside["warnings"] if "inside" in w]


def test_an_option_for_why_is_called_as_elsewhere(olav: Olav, root: Path) -> None:
    shown = {
        name: olav("context", "office", name, "-w", root).stdout for name in ("--explain", "-x", "--why")
    }
    assert len(set(shown.values())) == 1
    assert "<relevant-memories>" not in shown["--explain"]


def test_a_committed_row_ends_with_no_empty_path(olav: Olav, root: Path) -> None:
    with olav_core.open(root) as memory:
        Drafts(memory).put(
            "rack", [olav_core.Draft(text="R1 is in rack 7", category="fact")], proposer="test"
        )
    shown = olav("drafts", "commit", "--yes", "-w", root)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.strip().splitlines()[-1].startswith("Remembered fact")
    assert not shown.stdout.strip().endswith("·")


def test_one_memory_is_not_called_memories(olav: Olav, root: Path, tmp_path: Path) -> None:
    one = tmp_path / "one"
    with olav_core.init(one, embedder="hashing") as memory:
        memory.remember("R1 is in rack 7")
    assert "1 memory to" in olav("kb", "export", tmp_path / "out.jsonl", "-w", one).output
    assert "Read 1 memory," in olav("kb", "rescan", "-n", "-w", one).output


def test_a_gate_names_itself_once(root: Path) -> None:
    with olav_core.open(root) as memory:
        memory.remember(
            "先看邻居", category="usage_guide", origin="directive",
            metadata={"intent": "bgp", "agent": "core", "keywords": ["BGP"], "load": "on_intent"},
        )  # fmt: skip
        trace = memory.recall("completely other words about lunch", tier="large").trace
    reasons = [each.reason for each in trace if each.category == "usage_guide"]
    assert reasons
    assert all(reason.count("on_intent") <= 1 for reason in reasons)
