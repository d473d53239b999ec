"""The live workspace: golden queries, mining and replay read it and write nothing to it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from bench_suite import Run, Write
from olav_bench.cached_embedder import with_cache
from olav_bench.live_copy import copy_rows

import olav_core
from olav_core import Draft, RecordError, build_registry
from olav_core.history import MAX_QUERY_CHARS
from olav_core.store.calibrations import Calibration


def state(folder: Path) -> dict[str, str]:
    """Every file below the folder and its content."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with five memories and a plug-in of its own, whose queries are kept."""
    folder = tmp_path / "live"
    with olav_core.init(folder, embedder="hashing") as memory:
        for text, scope in (
            ("R1 loopback is 10.255.0.1", "netops"),
            ("R2 loopback is 10.255.0.2", "netops"),
            ("发票在每月五号之前提交", "finance"),
            ("the canteen opens at noon", "global"),
        ):
            memory.remember(text, scope=scope)
        memory.remember(
            "when push fails on R1, wait, because of the lock", category="reflection", origin="agent"
        )
    config = folder / ".olav" / "config.yaml"
    kept = config.read_text("utf-8").replace("recall:\n", "recall:\n  log_queries: true\n", 1)
    config.write_text(kept, "utf-8")
    return folder


@pytest.fixture
def used(workspace: Path) -> Path:
    """The same after a day's work: recalls, and thumbs."""
    with olav_core.open(workspace) as memory:
        for _ in range(3):
            memory.recall("loopback of R1, password=hunter2abc", agent="netops", tier="medium")
        memory.recall("发票什么时候提交", agent="finance", tier="small")
        memory.recall("zzz", agent="netops", tier="small", scopes=["global"])
        ids = {record.text[:2]: record.id for record in memory.list()}
        memory.history.thumb(ids["R1"], "up")
        memory.history.thumb(ids["R2"], "down")
        memory.history.thumb(ids["发票"], "up", query="发票什么时候提交")
    return workspace


@pytest.mark.parametrize("left", [0, 4, 8, 12])
def test_a_long_query_is_masked_before_it_is_cut(workspace: Path, left: int) -> None:
    part = "postgresql://admin:hunter2abcZx81"
    words = "如何" * ((MAX_QUERY_CHARS - len(part) + left) // 2) + f" {part}@db.example/x"
    with olav_core.open(workspace) as memory:
        id = memory.recall("loopback of R1", agent="netops").items[0].id
        memory.recall(words, agent="netops", tier="small")
        thumb = memory.history.thumb(id, "up", query=words)
        memory.history.flush()
        kept = [query.query for query in memory.history.queries()][-1]
    for query in (kept, thumb.query):
        assert "hunter2" not in query
        assert len(query) <= MAX_QUERY_CHARS


def test_golden_queries_against_a_live_workspace_leave_it_as_it_is(
    workspace: Path, olav: Run, write: Write, tmp_path: Path
) -> None:
    with olav_core.open(workspace) as memory:
        ids = {record.text[:2]: record.id for record in memory.list()}
    rows = [
        {"qid": "a", "query": "loopback of R1", "agent": "netops", "relevant": [ids["R1"]]},
        {"qid": "b", "query": "发票什么时候提交", "agent": "finance", "relevant": [ids["发票"]]},
    ]
    queries = write(tmp_path / "golden.jsonl", rows)
    before = state(workspace)
    (report,) = olav("bench", "run", "store", workspace, queries)["runs"]
    assert state(workspace) == before
    assert report["configuration"]["embedder"] == "hashing"
    assert report["retrieval"]["all"]["R@1"]["mean"] == 1.0
    assert report["retrieval"]["lang:zh->zh"]["n"] == 1
    assert report["rankings"]["a"][0] == ids["R1"]
    write(queries, [{**rows[0], "relevant": ["fact:gone"]}])
    found = olav("bench", "run", "store", workspace, queries, code=1)
    assert "golden.jsonl:1: 'relevant' names 'fact:gone'" in found["error"]["message"]


def test_contradictions_that_stand_in_the_live_workspace_stand_in_the_copy(
    workspace: Path, tmp_path: Path
) -> None:
    with olav_core.open(workspace) as memory:
        for n in (1, 2):
            draft = Draft(text=f"R9's loopback is 10.0.0.{n}", category="fact")
            memory.write([memory.prepare(draft)], settle=False)
        rows = {record.id: record.metadata for record in memory.list()}
    registry, made = with_cache(build_registry(), "hashing", tmp_path / "vectors")
    with olav_core.init(tmp_path / "copy", embedder="hashing", registry=registry) as copy:
        copy.check_space()
        copy_rows(workspace, copy, made[-1], lambda done, total: None)
        assert {record.id: record.metadata for record in copy.list()} == rows


def test_the_live_workspaces_calibration_holds(
    workspace: Path, olav: Run, write: Write, tmp_path: Path
) -> None:
    with olav_core.open(workspace) as memory:
        (lesson,) = memory.list(category="reflection")
    row = {"qid": "a", "query": lesson.text, "agent": "netops", "relevant": [lesson.id]}
    queries = write(tmp_path / "q.jsonl", [row])

    def decisions() -> dict[str, int]:
        (report,) = olav("bench", "run", "store", workspace, queries, "--tier", "large")["runs"]
        found: dict[str, int] = report["injection"]["large"]["decisions_on_relevant"]
        return found

    assert decisions() == {"injected": 1}
    with olav_core.open(workspace) as memory:
        gates = [use.id for use in memory.categories["reflection"].gates if "max" in use.options]
        strict = {"reflection": dict.fromkeys(gates, -1.0)}
        memory.apply_calibration(Calibration(fingerprint=memory.store.fingerprint, thresholds=strict))
    assert decisions() == {"gate": 1}


def test_the_live_workspaces_settings_and_scopes_hold(
    workspace: Path, olav: Run, write: Write, tmp_path: Path
) -> None:
    config = workspace / ".olav" / "config.yaml"
    config.write_text(
        config.read_text("utf-8") + "agents: {desk: {teams: [netops2]}}\ncategories: {fact: {cap: 0}}\n",
        "utf-8",
    )
    with olav_core.open(workspace) as memory:
        secret = memory.remember("the desk's phone is 4711", scope="team:netops2").id
    queries = write(
        tmp_path / "q.jsonl", [{"qid": "a", "query": "desk phone", "agent": "desk", "relevant": [secret]}]
    )
    (report,) = olav("bench", "run", "store", workspace, queries)["runs"]
    assert report["leaks"] == 0
    assert report["configuration"]["categories"]["fact"]["cap"] == 0
    assert report["injection"]["large"]["relevant_injected_share"] == 0
    (report,) = olav("bench", "run", "store", workspace, queries, "--set", "categories.fact.cap=2")["runs"]
    assert report["injection"]["large"]["relevant_injected_share"] == 1


def test_mining_gives_golden_queries_that_the_suite_takes(used: Path, olav: Run, tmp_path: Path) -> None:
    before = state(used)
    target = tmp_path / "mined.jsonl"
    found = olav("bench", "mine", "--workspace", used, "--output", target)
    assert (found["labelled"], found["unlabelled"]) == (2, 1)
    first, second = (json.loads(line) for line in target.read_text("utf-8").splitlines())
    assert first["times"] == 3
    assert "hunter2abc" not in target.read_text("utf-8")
    assert first["query"].startswith("loopback of R1")
    assert (first["agent"], second["agent"]) == ("netops", "finance")
    assert len(first["relevant"]) == len(first["rejected"]) == 1
    (report,) = olav("bench", "run", "store", used, target)["runs"]
    assert report["retrieval"]["all"]["n"] == 2
    assert report["retrieval"]["all"]["R@5"]["mean"] == 1.0
    assert state(used) == before


def test_what_waits_for_a_label_is_given_on_request_and_refused_unlabelled(
    used: Path, olav: Run, tmp_path: Path
) -> None:
    target = tmp_path / "mined.jsonl"
    olav("bench", "mine", "--workspace", used, "--output", target, "--unlabelled")
    last = json.loads(target.read_text("utf-8").splitlines()[-1])
    assert last["relevant"] is None
    assert last["scopes"] == ["global"]
    assert "shown" in last
    found = olav("bench", "run", "store", used, target, code=1)
    assert "not labelled yet" in found["error"]["message"]


def test_replay_shows_what_another_gate_would_inject(used: Path, olav: Run) -> None:
    before = state(used)
    same = olav("replay", "--workspace", used)
    assert same["queries"] == 3
    assert same["changed"]["mean"] == 0
    assert same["thumbs"]["up"] == {"known": 2, "before": 2, "after": 2}
    other = olav(
        "replay", "--workspace", used, "--set", "categories.fact.cap=1", "--output", used.parent / "r.json"
    )
    (changed,) = [row for row in other["per_query"] if row["removed"]]
    assert changed["times"] == 3
    assert other["rows"]["removed"] == {"fact": 1}
    assert other["tokens"]["after"] < other["tokens"]["before"]
    assert json.loads((used.parent / "r.json").read_text("utf-8")) == other
    assert state(used) == before


def test_replay_under_another_embedder_and_ranker(used: Path, olav: Run) -> None:
    found = olav("replay", "--workspace", used, "--embedder", "minilm", "--ranker", "rrf", "--limit", "2")
    assert found["queries"] == 2
    assert found["after"]["embedder"] == "minilm"
    assert "rrf" in found["after"]["rankers"]


def test_without_kept_queries_replay_says_how_to_keep_them(tmp_path: Path, olav: Run) -> None:
    olav_core.init(tmp_path / "fresh", embedder="hashing").close()
    found = olav("replay", "--workspace", tmp_path / "fresh", code=1)
    assert "log_queries" in found["error"]["message"]
    assert olav("bench", "mine", "--workspace", tmp_path / "fresh")["queries"] == []
    assert olav("replay", "--workspace", tmp_path / "nothing", code=1)["error"]["type"] == "WorkspaceError"


def test_words_are_kept_only_when_the_setting_says_so(tmp_path: Path) -> None:
    with olav_core.init(tmp_path / "quiet", embedder="hashing") as memory:
        id = memory.remember("R1 loopback", scope="netops").id
        memory.recall("R1 loopback", agent="netops")
        thumb = memory.history.thumb(id, "up")
        assert (thumb.query, thumb.agent) == ("", "netops")
        assert thumb.query_hash
        assert memory.history.queries() == []
        assert [hit.memory_id for hit in memory.history.hits()] == [id]


def test_a_thumb_is_checked_and_goes_with_its_memory(workspace: Path, olav: Run) -> None:
    with olav_core.open(workspace) as memory:
        id = next(record.id for record in memory.list(category="fact"))
        with pytest.raises(RecordError, match="up or down"):
            memory.history.thumb(id, "sideways")  # type: ignore[arg-type]
        with pytest.raises(RecordError, match="blank"):
            memory.history.thumb(id, "up", query="  ")
    given = olav(
        "thumb", "down", id, "--query", "token=abcdefghij0123456789 where?", "--workspace", workspace
    )
    assert given["verdict"] == "down"
    assert "abcdefghij0123456789" not in given["query"]
    assert (
        olav("thumb", "up", "fact:none", "--workspace", workspace, code=1)["error"]["type"]
        == "UnknownIdError"
    )
    with olav_core.open(workspace) as memory:
        assert len(memory.history.thumbs()) == 1
        memory.forget(id)
        assert memory.history.thumbs() == []


def test_old_queries_go_with_maintenance_and_doctor_knows_the_tables(used: Path, olav: Run) -> None:
    from datetime import UTC, datetime, timedelta

    with olav_core.open(used) as memory:
        assert len(memory.history.queries()) == 5
        assert memory.history.queries(datetime.now(UTC) + timedelta(days=1)) == []
    found = olav("doctor", "--workspace", used)
    assert not [row for row in json.dumps(found).split(",") if "is not olav's" in row]
