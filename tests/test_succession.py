"""A fact that contradicts an earlier one: the earlier is kept, linked, listed; it is not injected."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from olav_langchain import remember_tool

import olav_core
from olav_core import Confirmation, Draft, Drafts, Memory, OlavError, RecordError
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


def test_a_forgotten_successor_lets_the_old_one_back_into_force(memory: Memory) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    memory.forget(new.id)
    assert state(memory, old.id) == ("active", "", [])
    assert "10.0.0.1" in block(memory)
    with pytest.raises(RecordError, match="not superseded"):
        memory.reinstate(old.id)


def loopbacks(memory: Memory, *numbers: int, **options: Any) -> list[str]:
    return [memory.remember(f"R1's loopback is 10.0.0.{n}", **options).id for n in numbers]


def in_force(memory: Memory) -> list[str]:
    return sorted(row.text for row in memory.list(category="fact") if row.metadata["status"] == "active")


def test_a_forgotten_link_of_a_chain_hands_its_own_to_the_next(memory: Memory) -> None:
    first, second, third = loopbacks(memory, 1, 2, 3)
    memory.forget(second)
    assert state(memory, first) == ("superseded", third, [])
    assert state(memory, third) == ("active", "", [first])
    memory.forget(third)
    assert state(memory, first) == ("active", "", [])


def test_a_refused_record_puts_nothing_out_of_force(memory: Memory) -> None:
    (erased,) = loopbacks(memory, 2)
    memory.forget(erased)
    kept, refused = memory.remember_many(
        [Draft(text=f"R1's loopback is 10.0.0.{n}", category="fact") for n in (1, 2)]
    )
    assert refused.error is not None
    assert kept.conflicts == refused.conflicts == ()
    assert state(memory, kept.id) == ("active", "", [])


def test_what_loses_on_one_topic_puts_nothing_else_out_of_force(memory: Memory) -> None:
    (first,) = loopbacks(memory, 9, origin="agent")
    key = {"subject": "R1", "attribute": "as"}
    person = memory.remember("Router R1 peers with AS 100", metadata={**key, "value": "100"}, origin="user")
    both = memory.remember("R1's loopback is 10.0.0.5", metadata={**key, "value": "200"}, origin="agent")
    assert [(c.id, c.outcome) for c in both.conflicts] == [(person.id, "stands")]
    assert state(memory, both.id) == ("superseded", person.id, [])
    assert state(memory, person.id) == ("active", "", [both.id])
    assert state(memory, first) == ("active", "", [])


def test_the_first_of_a_chain_reinstated_is_alone_in_force(memory: Memory) -> None:
    first, second, third = loopbacks(memory, 1, 2, 3)
    memory.reinstate(first)
    assert state(memory, first) == ("active", "", [third])
    assert state(memory, second) == ("superseded", third, [])
    assert state(memory, third) == ("superseded", first, [second])
    memory.reinstate(second, beside=True)
    assert in_force(memory) == ["R1's loopback is 10.0.0.1", "R1's loopback is 10.0.0.2"]


def test_an_agent_does_not_overturn_what_a_person_reinstated_or_said(memory: Memory) -> None:
    first, second = loopbacks(memory, 1, 2, origin="agent")
    memory.reinstate(first)
    loopbacks(memory, 1, origin="agent")  # said again: still a person's word
    (conflict,) = memory.remember("R1's loopback is 10.0.0.2", origin="agent").conflicts
    assert (conflict.id, conflict.outcome) == (first, "stands")
    loopbacks(memory, 3, origin="user")
    loopbacks(memory, 3, 1, origin="agent")
    assert in_force(memory) == ["R1's loopback is 10.0.0.3"]
    loopbacks(memory, 2, origin="user")
    assert state(memory, second)[0] == "active"


def test_two_threads_that_contradict_leave_one_in_force(memory: Memory) -> None:
    memory.remember("warm", category="fact")
    for turn in range(3):
        start = Barrier(3)

        def write(n: int, turn: int = turn, start: Barrier = start) -> None:
            start.wait()
            memory.remember(f"R{turn}'s loopback is 10.0.0.{n}")

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(write, range(3)))
        assert len([text for text in in_force(memory) if text.startswith(f"R{turn}'")]) == 1


def test_two_processes_that_contradict_leave_one_in_force(memory: Memory) -> None:
    script = (
        "import sys, olav_core\n"
        "with olav_core.open(sys.argv[1]) as memory:\n"
        "    for n in range(4):\n"
        "        memory.remember(f'R{n} is in rack {sys.argv[2]}')\n"
    )
    root = str(memory.workspace.root)
    running = [subprocess.Popen([sys.executable, "-c", script, root, str(n)]) for n in (1, 2)]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert [text[:2] for text in in_force(memory)] == ["R0", "R1", "R2", "R3"]


def test_what_is_written_to_the_old_one_meanwhile_is_kept(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = loopbacks(memory, 1)
    upsert, begun, tagged = memory.store.upsert, Event(), Event()
    with olav_core.open(memory.workspace.root) as other:

        def tag() -> None:
            begun.wait(30)
            other.store.update_columns([old], {"tags": [("checked",)]})
            tagged.set()

        def late(*args: Any, **options: Any) -> Any:
            begun.set()
            tagged.wait(0.5)  # it can't be before this write is done
            return upsert(*args, **options)

        monkeypatch.setattr(memory.store, "upsert", late)
        thread = Thread(target=tag)
        thread.start()
        loopbacks(memory, 2)
        thread.join()
    assert state(memory, old)[0] == "superseded"
    assert memory.get(old).tags == ("checked",)


def test_a_refused_commit_of_a_draft_leaves_everything_as_it_was(memory: Memory) -> None:
    (old,) = loopbacks(memory, 1, origin="agent")
    memory.forget(memory.remember("Switch S9 stands in rack 4").id)
    before = memory.get(old)
    drafts = Drafts(memory)
    texts = ("R1's loopback is 10.0.0.2", "Switch S9 stands in rack 4")
    drafts.put("x", [Draft(text=text, category="fact") for text in texts], proposer="t")
    with pytest.raises(OlavError, match="erased"):
        drafts.commit("x", confirmation=Confirmation(text="yes", in_person=True))
    assert memory.list(category="fact") == [before]


def test_a_rescanned_superseded_one_is_still_found_by_its_id_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "ghp_" + "Zq7k" * 9
    monkeypatch.setenv("OLAV_DISABLE", "secrets")
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        memory.remember(f"R1's loopback is 10.0.0.1 ({token})", metadata={"subject": "R1", "attribute": "lo"})
        memory.remember("R1's loopback is 10.0.0.2", metadata={"subject": "R1", "attribute": "lo"})
    monkeypatch.delenv("OLAV_DISABLE")
    with olav_core.open(tmp_path / "ws") as memory:
        memory.rescan()
        (old,) = [row for row in memory.list() if row.metadata.get("status") == "superseded"]
        assert token not in old.text
        assert old.search_text == old.id


@pytest.mark.parametrize("vectors", [True, False])
def test_an_import_contradicts_with_and_without_vectors(
    memory: Memory, tmp_path: Path, vectors: bool
) -> None:
    (mine,) = loopbacks(memory, 1, timestamp="2026-01-01T00:00:00Z")
    olav_core.export_memories(memory, tmp_path / "all.jsonl", vectors=vectors)
    with olav_core.init(tmp_path / "other", embedder="hashing") as other:
        (theirs,) = loopbacks(other, 2)
        report = olav_core.import_jsonl(other, tmp_path / "all.jsonl")
        assert [(c.id, c.outcome) for c in report.conflicts] == [(theirs, "stands")]
        assert state(other, mine) == ("superseded", theirs, [])


def test_an_export_brings_the_links_back(memory: Memory, tmp_path: Path) -> None:
    old, new = memory.remember(OLD), memory.remember(NEW)
    olav_core.export_memories(memory, tmp_path / "all.jsonl")
    with olav_core.init(tmp_path / "other", embedder="hashing") as other:
        olav_core.import_jsonl(other, tmp_path / "all.jsonl")
        assert state(other, old.id) == ("superseded", new.id, [])
        assert state(other, new.id) == ("active", "", [old.id])


NOTES = """
from attrs import frozen
from olav_core import CategorySpec, Draft, ImporterSpec, Succession, hookimpl

@frozen(kw_only=True)
class Note(Succession):
    directory: str = ""
    source: str = ""

def claims(record):
    name, _, value = record.text.partition("=")
    return {name: value}

def parse(root, path, raw):
    return [Draft(text=raw.decode(), category="note", metadata={"source": path.name})], []

@hookimpl
def olav_register_categories():
    return [CategorySpec(id="note", title="Note", purpose="A value", metadata=Note, claims=claims)]

@hookimpl
def olav_register_importers():
    return [ImporterSpec(id="note", purpose="One value", suffixes=(".note",), parse=parse, category="note")]
"""


def test_a_file_that_goes_lets_what_it_superseded_back_into_force(tmp_path: Path) -> None:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        root = memory.workspace.root
    (root / ".olav" / "plugins").mkdir(exist_ok=True)
    (root / ".olav" / "plugins" / "notes.py").write_text(NOTES, "utf-8")
    (root / "notes").mkdir()
    note = root / "notes" / "r1.note"
    with olav_core.open(root) as memory:
        old = memory.remember("mtu=1500", category="note", origin="document").id
        note.write_text("mtu=9000", "utf-8")
        olav_core.import_directory(memory, root / "notes", workspace=root)
        assert state(memory, old)[0] == "superseded"
        note.unlink()
        olav_core.import_directory(memory, root / "notes", workspace=root)
        assert state(memory, old) == ("active", "", [])


SAID = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 4)), min_size=1, max_size=3)
STEP = st.one_of(
    st.tuples(st.just("write"), SAID, st.sampled_from(["user", "agent"])),
    st.tuples(st.sampled_from(["forget", "reinstate"]), st.integers(0, 1), st.integers(1, 3)),
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=1, max_size=8))
def test_whatever_is_said_forgotten_and_reinstated_each_topic_has_one_in_force(
    steps: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    def text(router: int, value: int) -> str:
        return f"The loopback of R{router} is 10.0.0.{value}"

    with olav_core.init(tmp_path_factory.mktemp("s"), embedder="hashing") as memory:
        for router in (0, 1):  # value 4 is refused from here on
            memory.forget(memory.remember(text(router, 4)).id)
        for kind, first, second in steps:
            if kind == "write":
                memory.remember_many(
                    [Draft(text=text(*said), category="fact", origin=second) for said in first]
                )
            else:
                rows = {row.text: row for row in memory.list(category="fact")}
                row = rows.get(text(first, second))
                if row is not None and kind == "forget":
                    memory.forget(row.id)
                elif row is not None and row.metadata["status"] == "superseded":
                    memory.reinstate(row.id)
            check_topics(memory)


def check_topics(memory: Memory) -> None:
    by_id = {row.id: row for row in memory.list(category="fact")}
    topics = {row.text.partition(" is ")[0] for row in by_id.values()}
    active = [row for row in by_id.values() if row.metadata["status"] == "active"]
    assert sorted(row.text.partition(" is ")[0] for row in active) == sorted(topics)
    for row in by_id.values():
        assert (row.search_text == row.id) is (row.metadata["status"] == "superseded")
        if row.metadata["superseded_by"]:
            assert row.id in by_id[row.metadata["superseded_by"]].metadata["supersedes"]
        for lesser in row.metadata["supersedes"]:
            assert by_id[lesser].metadata["superseded_by"] == row.id


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
