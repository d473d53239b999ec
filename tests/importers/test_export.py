"""Export and import of JSON lines: what goes out comes back as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from desk import Desk, counts

import olav_core
from olav_core import (
    Draft,
    Memory,
    MemoryRecord,
    RecordError,
    WorkspaceError,
    export_memories,
    import_jsonl,
)

SCOPES = ("global", "netops", "user_1", "userA1", "team:noc", 'it\'s \\ "x" 设备 🙂')


def rows(memory: Memory) -> dict[str, MemoryRecord]:
    return {row.id: row for row in memory.list()}


def fill(memory: Memory, number: int = 1_100) -> None:
    """Rows of every scope and of a category that no plug-in has, with times, tags and counts of their own."""
    start = datetime(2024, 1, 1, tzinfo=UTC)
    drafts = [
        Draft(
            text=f"Device {n} 设备 answers at 10.0.{n // 250}.{n % 250}\nsecond line 🙂",
            category="fact",
            scope=SCOPES[n % len(SCOPES)],
            metadata={"subject": f"D{n}", "source": "list.csv"},
            confidence=n % 7 / 7,
            tags=(f"D{n}", "设备"),
            timestamp=start + timedelta(minutes=n, microseconds=n),
            expires_at=None if n % 3 else start + timedelta(days=36_500),
        )
        for n in range(number)
    ]
    assert not [done for done in memory.remember_many(drafts) if done.error]
    stranger = MemoryRecord(
        id="ticket:0123456789abcdef0123456789abcdef",
        text="A row whose plug-in is gone",
        category="ticket",
        scope="netops",
        search_text="gone row",
        metadata={"any": {"thing": [1, None, "x"]}},
        origin="agent",
    )
    memory.store.upsert([stranger], memory.embedder.passages([stranger.search_text]))
    for _ in range(3):
        memory.recall("Device 7", agent="netops", tier="large")


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Desk]:
    with olav_core.init(tmp_path / "other", embedder="hashing") as memory:
        yield Desk(memory)


@pytest.mark.parametrize("vectors", [True, False])
def test_case_51_export_wipe_import_gives_identical_rows(
    desk: Desk, empty: Desk, tmp_path: Path, vectors: bool
) -> None:
    fill(desk.memory)
    file = tmp_path / "all.jsonl"
    assert export_memories(desk.memory, file, vectors=vectors) == 1_101
    before = rows(desk.memory)
    assert sum(row.access_count for row in before.values()) > 0
    report = import_jsonl(empty.memory, file)
    assert not report.faults
    assert rows(empty.memory) == before
    assert report.embedded == empty.embedded == (0 if vectors else 1_101)
    ids = list(before)[:50]
    ours, theirs = desk.memory.store.vectors(ids), empty.memory.store.vectors(ids)
    assert all((ours[id] == theirs[id]).all() for id in ids)
    assert counts(import_jsonl(empty.memory, file)) == {"unchanged": 1_101}
    empty.memory.store.fold_access_counts()
    assert rows(empty.memory) == before


def test_counts_are_not_counted_twice_after_a_wipe_of_the_same_store(desk: Desk, tmp_path: Path) -> None:
    fill(desk.memory, 20)
    export_memories(desk.memory, tmp_path / "a.jsonl", vectors=True)
    before = rows(desk.memory)
    desk.memory.store.delete(before)
    import_jsonl(desk.memory, tmp_path / "a.jsonl")
    desk.memory.store.fold_access_counts()
    assert rows(desk.memory) == before


def test_an_export_of_some(desk: Desk, tmp_path: Path) -> None:
    fill(desk.memory, 12)
    file = tmp_path / "some.jsonl"
    assert export_memories(desk.memory, file, scopes=["user_1"]) == 2
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {line["scope"] for line in lines[1:-1]} == {"user_1"}
    assert export_memories(desk.memory, file, category="ticket") == 1
    assert export_memories(desk.memory, file, category="x' OR 1=1 --") == 0
    assert file.stat().st_mode & 0o077 == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".some")]


def test_vectors_of_another_space_are_made_anew(desk: Desk, empty: Desk, tmp_path: Path) -> None:
    fill(desk.memory, 5)
    file = tmp_path / "a.jsonl"
    export_memories(desk.memory, file, vectors=True)
    head, *rest = file.read_text("utf-8").splitlines()
    header = json.loads(head)
    header["fingerprint"]["revision"] = "other weights"
    file.write_text("\n".join([json.dumps(header), *rest]), "utf-8")
    assert import_jsonl(empty.memory, file).embedded == empty.embedded == 6


def test_an_old_export_brings_back_nothing_forgotten_and_overwrites_nothing_newer(
    desk: Desk, tmp_path: Path
) -> None:
    memory = desk.memory
    gone = memory.remember("R1 is the old border router").id
    kept = memory.remember("use ssh", category="preference", metadata={"user": "ann"}).id
    export_memories(memory, tmp_path / "old.jsonl", vectors=True)
    memory.forget(gone)
    later = datetime.now(UTC) + timedelta(seconds=5)
    memory.store.update_columns([kept], {"text": ["use netconf"], "timestamp": [later]})
    report = import_jsonl(memory, tmp_path / "old.jsonl")
    assert (report.erased, report.kept, report.added, report.faults) == (1, 1, 0, ())
    assert [row.text for row in memory.list()] == ["use netconf"]


def lines_of(path: Path, *values: Any) -> Path:
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


ROW = {
    "id": "fact:1",
    "text": "x",
    "category": "fact",
    "scope": "global",
    "timestamp": "2026-01-01T00:00:00Z",
    "created_at": "2026-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "decision:1"}, "must begin with 'fact:'"),
        ({"scope": " x"}, "scope"),
        ({"origin": "boss"}, "origin 'boss'"),
        ({"confidence": 2}, "confidence"),
        ({"access_count": -1}, "access_count"),
        ({"timestamp": "yesterday"}, "ISO 8601"),
        ({"created_at": None}, "created_at"),
        ({"metadata": []}, "metadata"),
        ({"text": " "}, "blank"),
        ({"vector": "%%"}, "base64"),
        ({"vector": "AAAAAA=="}, "zero"),
        ({"colour": 1}, "unknown field 'colour'"),
    ],
)
def test_a_faulty_row_is_named_and_the_others_come(
    desk: Desk, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    good = {**ROW, "id": "fact:2", "text": "good"}
    path = lines_of(tmp_path / "a.jsonl", good, {**ROW, **change})
    report = import_jsonl(desk.memory, path)
    (fault,) = report.faults
    assert fault.line == 2
    assert said in fault.message
    assert [row.text for row in desk.memory.list()] == ["good"]
    assert not import_jsonl(desk.memory, lines_of(path, ROW, {**ROW, **change}), strict=True).applied
    assert len(desk.memory.list()) == 1


def test_a_file_that_was_cut_short_is_told(desk: Desk, empty: Desk, tmp_path: Path) -> None:
    fill(desk.memory, 3)
    file = tmp_path / "a.jsonl"
    export_memories(desk.memory, file)
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join(lines[:-1]), "utf-8")
    assert "cut short" in import_jsonl(empty.memory, file).faults[0].message
    file.write_text("\n".join([*lines[:-2], lines[-1]]), "utf-8")
    assert "3 of 4 rows" in import_jsonl(empty.memory, file).faults[0].message
    file.write_text("\n".join([json.dumps({"olav_export": 99}), *lines[1:]]), "utf-8")
    assert "format 99" in import_jsonl(empty.memory, file).faults[0].message


def test_drafts_come_one_a_line_and_unchanged_ones_cost_nothing(desk: Desk, tmp_path: Path) -> None:
    path = lines_of(
        tmp_path / "facts.jsonl",
        {"text": "R1 is a border router", "category": "fact", "tags": ["R1"]},
        "",
        {"text": "CHG-1 approved", "category": "decision", "scope": "netops"},
        {"text": "x", "category": "no_such"},
    )
    report = import_jsonl(desk.memory, path, scope="team:noc")
    assert counts(report) == {"added": 2, "embedded": 2}
    assert [fault.line for fault in report.faults] == [4]
    assert {row.scope for row in desk.memory.list()} == {"team:noc", "netops"}
    desk.embedded = 0
    assert counts(import_jsonl(desk.memory, path, scope="team:noc")) == {"unchanged": 2}
    assert desk.embedded == 0
    assert import_jsonl(desk.memory, path, dry_run=True).applied is False


def test_a_secret_in_an_old_export_is_masked_on_the_way_in(desk: Desk, tmp_path: Path) -> None:
    secret = "hunter2hunter2"
    row = {**ROW, "text": f"login with password={secret}", "metadata": {"source": f"api_key={secret}"}}
    import_jsonl(desk.memory, lines_of(tmp_path / "a.jsonl", row))
    (stored,) = desk.memory.list()
    assert secret not in json.dumps([stored.text, stored.search_text, dict(stored.metadata)])


def test_what_cannot_be_read_or_written_is_an_error(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be read"):
        import_jsonl(desk.memory, tmp_path / "none.jsonl")
    with pytest.raises(WorkspaceError, match="cannot be written"):
        export_memories(desk.memory, tmp_path / "no" / "folder.jsonl")
    with pytest.raises(RecordError):
        import_jsonl(desk.memory, tmp_path / "none.jsonl", scope=" ")
