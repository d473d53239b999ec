"""Importing directories: what is written, embedded, moved, retired and left alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import olav_core
from olav_core import Draft, ImportFaultsError, ImportReport, Memory, MemoryRecord, WorkspaceError
from olav_core.importing.directory import import_directory


class Counted:
    """The real memory, counting what it embeds and writes."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.embedded = self.written = 0
        self.registry, self.store, self.prepare = memory.registry, memory.store, memory.prepare
        self.release = memory.release
        embed = memory.embedder.passages_each

        def passages_each(texts: Any, **options: Any) -> Any:
            self.embedded += len(texts)
            return embed(texts, **options)

        memory.embedder.passages_each = passages_each  # type: ignore[method-assign]

    def write(self, records: Any, **options: Any) -> Any:
        self.written += len(records)
        return self.memory.write(records, **options)

    def bring(self, root: Path, **options: Any) -> ImportReport:
        """Import, and check the report against what was really done."""
        self.embedded = self.written = 0
        report = import_directory(self, root, workspace=self.memory.workspace.root, **options)
        if report.applied:
            assert report.embedded == self.embedded
            assert report.added + report.changed + report.moved == self.written
        else:
            assert self.embedded == self.written == 0
        return report

    def rows(self, category: str = "usage_guide") -> dict[str, MemoryRecord]:
        return {
            row.metadata.get("intent") or row.metadata.get("tag"): row
            for row in self.memory.list(category=category)
        }


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[Counted]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        yield Counted(memory)


@pytest.fixture
def ws(counted: Counted) -> Path:
    return counted.memory.workspace.root


def guide(folder: Path, name: str, *, agent: str = "netops", body: str = "", **keys: str) -> Path:
    path = folder / f"{name}.guide.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    values = {"schema_version": "1", "intent": name, "agent": agent, "keywords": f"[{name}]", **keys}
    lines = [f"{key}: {value}" for key, value in values.items()]
    path.write_text("\n".join([*lines, f"body: {body or 'Do ' + name}", ""]), encoding="utf-8")
    return path


def counts(report: ImportReport) -> dict[str, int]:
    names = ("added", "changed", "moved", "unchanged", "retired", "embedded")
    return {name: getattr(report, name) for name in names if getattr(report, name)}


def test_importing_twice_embeds_and_writes_nothing(counted: Counted, ws: Path) -> None:
    for number in range(6):
        guide(ws / "netops/guides", f"g{number}")
    assert counts(counted.bring(ws)) == {"added": 6, "embedded": 6}
    assert counts(counted.bring(ws)) == {"unchanged": 6}
    assert counted.rows()["g0"].scope == "netops"
    assert counted.rows()["g0"].metadata["source"] == "netops/guides/g0.guide.yaml"


def test_one_edited_of_54_is_one_embedding(counted: Counted, ws: Path) -> None:
    for number in range(54):
        guide(ws / "netops/guides", f"g{number}")
    counted.bring(ws)
    guide(ws / "netops/guides", "g7", body="Other text")
    assert counts(counted.bring(ws)) == {"changed": 1, "unchanged": 53, "embedded": 1}
    assert counted.rows()["g7"].text == "Other text"


def test_a_change_that_is_not_searched_embeds_nothing(counted: Counted, ws: Path) -> None:
    guide(ws / "netops/guides", "a", expires="2090-01-01")
    counted.bring(ws)
    guide(ws / "netops/guides", "a", authority="vendor", load="on_intent")
    assert counts(counted.bring(ws)) == {"changed": 1}
    row = counted.rows()["a"]
    assert (row.metadata["authority"], row.expires_at) == ("vendor", None)


def test_only_the_scope_edited_moves_the_row(counted: Counted, ws: Path) -> None:
    guide(ws / "netops/guides", "a")
    counted.bring(ws)
    old = counted.rows()["a"]
    vector = counted.store.vectors([old.id])[old.id]
    guide(ws / "netops/guides", "a", scope="team:noc")
    report = counted.bring(ws)
    assert counts(report) == {"moved": 1}
    (new,) = counted.memory.list(category="usage_guide")
    assert (new.scope, report.items[0].previous_id) == ("team:noc", old.id)
    assert (counted.store.vectors([new.id])[new.id] == vector).all()


def test_a_removed_file_is_retired_by_its_own_directory_only(counted: Counted, ws: Path) -> None:
    gone = guide(ws / "a/guides", "one", agent="a")
    guide(ws / "a/guides", "two", agent="a")
    guide(ws / "b/guides", "one", agent="b")
    counted.bring(ws / "a/guides")
    gone.unlink()
    assert counts(counted.bring(ws / "b/guides")) == {"added": 1, "embedded": 1}
    assert len(counted.memory.list(category="usage_guide")) == 3
    report = counted.bring(ws / "a/guides")
    assert counts(report) == {"unchanged": 1, "retired": 1}
    assert next(item for item in report.items if item.action == "retired").path == str(gone)
    assert {(row.scope, row.metadata["intent"]) for row in counted.memory.list()} == {
        ("a", "two"),
        ("b", "one"),
    }


def test_the_last_file_of_a_directory_is_retired_too(counted: Counted, ws: Path) -> None:
    guide(ws / "a/guides", "one").unlink()
    guide(ws / "a/guides", "one")
    counted.bring(ws / "a/guides")
    (ws / "a/guides/one.guide.yaml").unlink()
    assert counts(counted.bring(ws / "a/guides")) == {"retired": 1}


def test_a_directory_is_the_same_from_every_working_directory_and_by_way_of_its_parent(
    counted: Counted, ws: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    guide(ws / "netops/guides", "a")
    guide(ws / "netops/guides", "b")
    first = counted.bring(ws / "netops/guides")
    monkeypatch.chdir(ws / "netops")
    assert counts(counted.bring(Path("guides"))) == {"unchanged": 2}
    assert counts(counted.bring(Path("../netops/guides"))) == {"unchanged": 2}
    (tmp_path / "link").symlink_to(ws / "netops")
    assert counts(counted.bring(tmp_path / "link/guides")) == {"unchanged": 2}
    assert counts(counted.bring(ws)) == {"unchanged": 2}
    assert first.directory == counted.bring(Path("guides")).directory == "netops/guides"
    (ws / "netops/guides/a.guide.yaml").unlink()
    assert counts(counted.bring(ws)) == {"unchanged": 1, "retired": 1}


def test_one_file_can_be_imported_by_itself(counted: Counted, ws: Path) -> None:
    path = guide(ws / "netops/guides", "a")
    guide(ws / "netops/guides", "b")
    assert counts(counted.bring(path)) == {"added": 1, "embedded": 1}
    counted.bring(ws)
    guide(ws / "netops/guides", "a", body="New")
    assert counts(counted.bring(path)) == {"changed": 1, "embedded": 1}
    assert set(counted.rows()) == {"a", "b"}


def test_a_renamed_file_keeps_its_row(counted: Counted, ws: Path) -> None:
    guide(ws / "a/guides", "one").rename(ws / "a/guides/two.guide.yaml")
    counted.bring(ws)
    (ws / "a/guides/two.guide.yaml").rename(ws / "a/guides/three.guide.yaml")
    assert counts(counted.bring(ws)) == {"changed": 1}
    (ws / "a").rename(ws / "b")
    assert counts(counted.bring(ws)) == {"moved": 1}  # another agent's folder, another scope


def test_every_fault_of_every_file_is_in_one_report_and_sound_files_are_imported(
    counted: Counted, ws: Path
) -> None:
    guide(ws / "a/guides", "sound")
    guide(ws / "a/guides", "odd", authority="boss", colour="red")
    (ws / "a/guides/latin.guide.yaml").write_bytes("body: Gerät".encode("cp1252"))
    report = counted.bring(ws)
    assert counts(report) == {"added": 1, "embedded": 1}
    assert [(Path(fault.path).name, fault.line) for fault in report.faults] == [
        ("latin.guide.yaml", 1),
        ("odd.guide.yaml", 5),
        ("odd.guide.yaml", 6),
    ]
    with pytest.raises(ImportFaultsError, match=r"(?s)latin.*odd.*sound files were imported") as caught:
        report.raise_for_faults()
    assert caught.value.faults == report.faults


def test_strict_imports_nothing_when_there_is_a_fault(counted: Counted, ws: Path) -> None:
    old = guide(ws / "a/guides", "old")
    counted.bring(ws)
    old.unlink()
    guide(ws / "a/guides", "new")
    bad = guide(ws / "a/guides", "bad", authority="boss")
    report = counted.bring(ws, strict=True)
    assert not report.applied
    assert set(counted.rows()) == {"old"}
    bad.unlink()
    assert counts(counted.bring(ws, strict=True)) == {"added": 1, "retired": 1, "embedded": 1}


def test_a_dry_run_tells_and_writes_nothing(counted: Counted, ws: Path) -> None:
    guide(ws / "a/guides", "one")
    assert counts(counted.bring(ws, dry_run=True)) == {"added": 1, "embedded": 1}
    assert not counted.memory.list()


def test_a_file_with_a_fault_keeps_its_old_row(counted: Counted, ws: Path) -> None:
    guide(ws / "a/guides", "one", body="Old")
    counted.bring(ws)
    (ws / "a/guides/one.guide.yaml").write_text("intent: [", encoding="utf-8")
    report = counted.bring(ws)
    assert counts(report) == {}
    assert report.faults
    assert counted.rows()["one"].text == "Old"


def test_what_cannot_be_read_keeps_its_rows(
    counted: Counted, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = guide(ws / "a/guides", "one")
    guide(ws / "b/guides", "two")
    counted.bring(ws)
    path.unlink()
    path.symlink_to(ws / "nowhere")
    scan = os.scandir

    def scandir(folder: Any) -> Any:
        if str(folder) == str(ws / "b/guides"):
            raise PermissionError(13, "Permission denied", str(folder))
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    report = counted.bring(ws)
    assert [Path(fault.path).name for fault in report.faults] == ["one.guide.yaml", "guides"]
    assert set(counted.rows()) == {"one", "two"}


def test_two_files_with_one_agent_and_intent_are_faults_on_both(counted: Counted, ws: Path) -> None:
    first = guide(ws / "a/guides", "one")
    counted.bring(ws)
    second = guide(ws / "b/guides", "copy", intent="one")
    report = counted.bring(ws)
    assert [fault.path for fault in report.faults] == [str(first), str(second)]
    assert str(second) in report.faults[0].message
    assert counted.rows()["one"].text == "Do one"  # neither replaces nor retires what was there


def test_directories_do_not_take_each_others_guides(counted: Counted, ws: Path) -> None:
    path = guide(ws / "a/guides", "one", scope="team:x", body="A")
    counted.bring(ws / "a/guides")
    guide(ws / "b/guides", "one", scope="team:x", body="B")
    report = counted.bring(ws / "b/guides")
    assert "imported before" in report.faults[0].message
    assert counted.rows()["one"].text == "A"
    path.unlink()
    assert counts(counted.bring(ws / "b/guides")) == {"changed": 1, "embedded": 1}
    assert counted.rows()["one"].text == "B"


def test_a_persons_rows_are_neither_overwritten_nor_retired(counted: Counted, ws: Path) -> None:
    mine = {"intent": "one", "agent": "netops"}
    counted.memory.remember("My own rule", category="usage_guide", scope="netops", metadata=mine)
    counted.memory.remember("A fact")
    guide(ws / "netops/guides", "one")
    guide(ws / "netops/guides", "two")
    report = counted.bring(ws)
    assert counts(report) == {"added": 1, "embedded": 1}
    assert "no import brought" in report.faults[0].message
    assert "olav forget" in report.faults[0].message
    for path in (ws / "netops/guides").iterdir():
        path.unlink()
    assert counts(counted.bring(ws)) == {"retired": 1}
    assert {row.text for row in counted.memory.list()} == {"My own rule", "A fact"}


def test_a_mark_keeps_a_file_out_even_when_it_ships_again(counted: Counted, ws: Path) -> None:
    path = guide(ws / "a/guides", "one")
    guide(ws / "a/guides", "two")
    counted.bring(ws)
    mark = path.with_name(path.name + ".removed")
    mark.write_text("Replaced by two\n", encoding="utf-8")
    report = counted.bring(ws)
    assert (counts(report), report.marked, report.files) == ({"unchanged": 1, "retired": 1}, 1, 1)
    path.write_text("not: valid: yaml", encoding="utf-8")
    assert not counted.bring(ws).faults
    assert not counted.bring(path).items
    mark.unlink()
    guide(ws / "a/guides", "one")
    assert counts(counted.bring(ws)) == {"added": 1, "unchanged": 1, "embedded": 1}


def test_guides_and_formats_are_imported_apart(counted: Counted, ws: Path) -> None:
    guide(ws / "a/guides", "one")
    text = "schema_version: 1\ntag: report\nkeywords: [report]\nbody: Use H2.\n"
    (ws / "a/guides/r.format.yaml").write_text(text, encoding="utf-8")
    assert counts(counted.bring(ws, importers=["guide"])) == {"added": 1, "embedded": 1}
    assert counts(counted.bring(ws, importers=["format"])) == {"added": 1, "embedded": 1}
    assert counts(counted.bring(ws)) == {"unchanged": 2}
    assert counted.memory.import_guides(ws).unchanged == counted.memory.import_formats(ws).unchanged == 1
    (ws / "a/guides/one.guide.yaml").unlink()
    (ws / "a/guides/r.format.yaml").unlink()
    assert counts(counted.bring(ws, importers=["format"])) == {"retired": 1}
    assert set(counted.rows()) == {"one"}


def test_hidden_folders_are_skipped_and_loops_of_links_end(counted: Counted, ws: Path) -> None:
    guide(ws / ".git/guides", "hidden")
    guide(ws / "a/guides", "one")
    (ws / "a/guides/loop").symlink_to(ws / "a")
    shared = guide(ws.parent / "shared", "linked").parent
    (ws / "a/guides/shared").symlink_to(shared)
    assert counts(counted.bring(ws)) == {"added": 2, "embedded": 2}
    assert counts(counted.bring(ws)) == {"unchanged": 2}
    (ws / "a/guides/shared").unlink()
    assert counts(counted.bring(ws)) == {"unchanged": 1, "retired": 1}


def test_an_erased_guide_is_not_brought_back(counted: Counted, ws: Path) -> None:
    guide(ws / "a/guides", "one")
    counted.bring(ws)
    counted.memory.forget(counted.rows()["one"].id)
    report = counted.bring(ws)
    assert "erased before" in report.faults[0].message
    assert "one.guide.yaml.removed" in report.faults[0].message
    assert not report.items
    assert not counted.rows()


def test_a_guide_that_prepare_refuses_is_a_fault_of_its_file(
    counted: Counted, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(draft: Draft) -> MemoryRecord:
        raise olav_core.RecordError("no.")

    guide(ws / "a/guides", "one")
    monkeypatch.setattr(counted, "prepare", refuse)
    report = counted.bring(ws)
    assert [(fault.line, fault.message) for fault in report.faults] == [(2, "no.")]


def test_progress_and_the_json_object(counted: Counted, ws: Path) -> None:
    guide(ws / "a/guides", "one")
    seen: list[tuple[int, int]] = []
    report = counted.bring(ws, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 1)]
    data = report.to_dict()
    assert data["directory"] == "."
    assert (data["added"], data["items"][0]["action"], data["applied"]) == (1, "added", True)


def test_a_root_that_is_not_there_is_an_error(counted: Counted, ws: Path) -> None:
    with pytest.raises(WorkspaceError, match="nowhere"):
        counted.bring(ws / "nowhere")
