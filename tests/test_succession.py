"""A fact that contradicts an earlier one: the earlier is kept, linked, listed; it is not injected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from olav_langchain import remember_tool

import olav_core
from olav_core import Draft, Memory, RecordError
from olav_core.cli.main import main

OLD, NEW = "R1's loopback is 10.0.0.1", "R1 的 loopback 改为 10.0.0.2"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


@pytest.fixture
def cli(memory: Memory) -> Callable[..., Any]:
    def run(*args: object) -> Any:
        line = ["--workspace", str(memory.workspace.root), *map(str, args), "--json"]
        result = CliRunner().invoke(main, line, prog_name="olav")
        assert result.exit_code == 0, (result.stdout, result.stderr, result.exception)
        return json.loads(result.stdout)

    return run


def state(memory: Memory, id: str) -> tuple[str, str, list[str]]:
    data = memory.get(id).metadata
    return data["status"], data["superseded_by"], list(data["supersedes"])


def block(memory: Memory) -> str:
    return memory.recall("what is the loopback of R1?", tier="large").block


def test_the_old_one_is_kept_linked_both_ways_listed_and_not_injected(memory: Memory) -> None:
    old = memory.remember(OLD)
    new = memory.remember(NEW)
    (conflict,) = new.conflicts
    assert (conflict.id, conflict.text, conflict.outcome) == (old.id, OLD, "superseded")
    assert "10.0.0.2" in conflict.ours
    assert "10.0.0.1" in conflict.theirs
    assert state(memory, old.id) == ("superseded", new.id, [])
    assert state(memory, new.id) == ("active", "", [old.id])
    assert {row.id for row in memory.list(category="fact")} == {old.id, new.id}
    assert "10.0.0.2" in block(memory)
    assert "10.0.0.1" not in block(memory)


@pytest.mark.parametrize("path", ["remember", "many", "tool", "cli", "one batch", "jsonl"])
def test_it_holds_on_every_write_path(
    memory: Memory, cli: Callable[..., Any], path: str, tmp_path: Path
) -> None:
    if path == "one batch":
        old, new = memory.remember_many([Draft(text=OLD, category="fact"), Draft(text=NEW, category="fact")])
        assert (state(memory, old.id)[0], state(memory, new.id)[0]) == ("superseded", "active")
        return
    old_id = memory.remember(OLD, scope="core", origin="agent").id
    if path == "remember":
        memory.remember(NEW, scope="core")
    elif path == "many":
        memory.remember_many([Draft(text=NEW, category="fact", scope="core")])
    elif path == "tool":
        told = json.loads(remember_tool(memory, agent="core").invoke({"text": NEW}))
        assert told["conflicts"] == [{"id": old_id, "text": OLD, "outcome": "superseded"}]
    elif path == "cli":
        told = cli("remember", NEW, "--scope", "core")
        assert told["conflicts"][0]["id"] == old_id
    else:
        file = tmp_path / "facts.jsonl"
        file.write_text(json.dumps({"text": NEW, "category": "fact", "scope": "core"}) + "\n", "utf-8")
        cli("kb", "import", file)
    assert state(memory, old_id)[0] == "superseded"


def test_why_shows_both(memory: Memory, cli: Callable[..., Any]) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    of_new = cli("why", new.id, "loopback of R1")
    assert (of_new["decision"], [(x["id"], x["relation"], x["decision"]) for x in of_new["linked"]]) == (
        "injected",
        [(old.id, "supersedes", "gate")],
    )
    of_old = cli("why", old.id, "loopback of R1")
    assert of_old["decision"] == "gate"
    assert "superseded by" in of_old["reason"]
    assert [(x["id"], x["relation"], x["text"]) for x in of_old["linked"]] == [(new.id, "superseded_by", NEW)]
    shown = CliRunner().invoke(main, ["-w", str(memory.workspace.root), "why", new.id, "loopback of R1"])
    assert "supersedes" in shown.stdout
    assert OLD in shown.stdout


def test_undo_swaps_them_or_lets_both_hold(memory: Memory, cli: Callable[..., Any]) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    assert cli("kb", "reinstate", old.id) == {"id": old.id, "changed": [old.id, new.id]}
    assert state(memory, old.id) == ("active", "", [new.id])
    assert state(memory, new.id) == ("superseded", old.id, [])
    with pytest.raises(RecordError, match="not superseded"):
        memory.reinstate(old.id)
    memory.reinstate(new.id, beside=True)
    assert state(memory, old.id) == state(memory, new.id) == ("active", "", [])
    again = memory.remember(NEW)  # a person said that they hold side by side
    assert again.conflicts == ()
    assert "10.0.0.1" in block(memory)
    assert "10.0.0.2" in block(memory)


def test_said_again_it_is_in_force_again(memory: Memory) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    (conflict,) = memory.remember(OLD).conflicts
    assert conflict.id == new.id
    assert state(memory, old.id) == ("active", "", [new.id])
    assert state(memory, new.id) == ("superseded", old.id, [])


def test_a_value_that_changes_often_does_not_crowd_itself_out(memory: Memory) -> None:
    for number in range(40):
        last = memory.remember(f"The loopback of R1 is 10.0.0.{number}")
    recall = memory.recall("What is the loopback of R1?", tier="small")
    assert [item.id for item in recall.items] == [last.id]
    assert len(memory.list(category="fact")) == 40


def test_a_confirmation_keeps_the_links(memory: Memory) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    assert not memory.remember(NEW).changed
    assert state(memory, new.id) == ("active", "", [old.id])


@pytest.mark.parametrize("origin", ["agent", "document"])
def test_a_persons_word_stands_against_an_agent_and_a_document(memory: Memory, origin: str) -> None:
    old = memory.remember(OLD, origin="user")
    for _ in range(2):
        new = memory.remember(NEW, origin=origin)
        assert [(c.id, c.outcome) for c in new.conflicts] == [(old.id, "stands")]
        assert state(memory, old.id) == ("active", "", [new.id])
    assert state(memory, new.id) == ("superseded", old.id, [])
    assert "10.0.0.2" not in block(memory)
    assert memory.reinstate(new.id)  # a person lets it
    assert "10.0.0.2" in block(memory)


def test_an_older_document_does_not_supersede_a_newer_one(memory: Memory) -> None:
    now = memory.remember(OLD, origin="document", timestamp=datetime(2026, 5, 1, tzinfo=UTC))
    past = memory.remember(NEW, origin="document", timestamp=datetime(2026, 4, 1, tzinfo=UTC))
    assert state(memory, now.id)[0] == "active"
    assert state(memory, past.id) == ("superseded", now.id, [])


def test_a_key_decides_where_it_is_given(memory: Memory) -> None:
    key = {"subject": "R1", "attribute": "uplink"}
    old = memory.remember("R1 uses ISP-A", metadata={**key, "value": "ISP-A"})
    new = memory.remember("上行链路换成了 ISP-B", metadata={**key, "value": "ISP-B"})
    assert [c.topic for c in new.conflicts] == ["r1 · uplink"]
    same = memory.remember("R1 的上行链路走 ISP-B", metadata={**key, "value": "isp-b"})
    assert same.conflicts == ()
    assert state(memory, old.id)[0] == "superseded"


def test_other_scopes_and_other_peoples_wishes_are_left_alone(memory: Memory) -> None:
    memory.remember(OLD, scope="netops")
    assert memory.remember(NEW, scope="services").conflicts == ()
    wish = {"subject": "answers", "attribute": "language"}
    lin = memory.remember("answer in English", category="preference", metadata={"user": "lin", **wish})
    other = memory.remember("用中文回答", category="preference", metadata={"user": "ada", **wish})
    assert other.conflicts == ()
    (conflict,) = memory.remember(
        "用中文回答", category="preference", metadata={"user": "lin", **wish}
    ).conflicts
    assert conflict.id == lin.id


def test_a_write_that_fails_leaves_the_old_one_in_force(memory: Memory) -> None:
    old = memory.remember(OLD)
    memory.forget(memory.remember(NEW, scope="elsewhere").id)  # its text may not come back
    (outcome,) = memory.remember_many([Draft(text=NEW, category="fact")])
    assert outcome.error is not None
    assert state(memory, old.id) == ("active", "", [])


def test_a_forgotten_successor_does_not_hold_the_old_one_back(memory: Memory) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    memory.forget(new.id)
    assert memory.reinstate(old.id) == [old.id]
    assert state(memory, old.id) == ("active", "", [])


def test_an_export_brings_the_links_back(memory: Memory, tmp_path: Path) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    olav_core.export_memories(memory, tmp_path / "all.jsonl")
    with olav_core.init(tmp_path / "other", embedder="hashing") as other:
        olav_core.import_jsonl(other, tmp_path / "all.jsonl")
        assert state(other, old.id) == ("superseded", new.id, [])
        assert state(other, new.id) == ("active", "", [old.id])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_whatever_is_said_in_whatever_order_one_is_in_force(
    values: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with olav_core.init(tmp_path_factory.mktemp("s"), embedder="hashing") as memory:
        ids = [memory.remember(f"The loopback of R1 is 10.0.0.{value}").id for value in values]
        rows = memory.list(category="fact")
        assert len(rows) == len(set(values))
        (active,) = [row for row in rows if row.metadata["status"] == "active"]
        assert active.id == ids[-1]
        by_id = {row.id: row for row in rows}
        for row in rows:
            if row.metadata["superseded_by"]:
                assert row.id in by_id[row.metadata["superseded_by"]].metadata["supersedes"]
            for lesser in row.metadata["supersedes"]:
                assert by_id[lesser].metadata["superseded_by"] == row.id
