"""The import of a directory: its files become memories, and memories whose file is gone are retired."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from attrs import evolve, fields_dict, frozen, has

from olav_core import clock
from olav_core.errors import OlavError
from olav_core.importing.report import Action, ImportItem, ImportReport
from olav_core.importing.source import REMOVED_SUFFIX, ImportSource
from olav_core.records import MemoryRecord
from olav_core.specs import CategorySpec, Draft, Fault, ImporterSpec
from olav_core.store.tombstones import text_hash

#: Records written per call: embedders fill their batches, and progress moves every few seconds.
BATCH = 256


class ImportTarget(Protocol):
    """What an import needs of a memory; `olav_core.Memory` has it."""

    @property
    def registry(self) -> Any: ...

    @property
    def store(self) -> Any: ...

    def prepare(self, draft: Draft) -> MemoryRecord: ...

    def write(self, records: Sequence[MemoryRecord], *, vectors_from: Mapping[str, str]) -> Sequence[Any]: ...


def import_directory(
    memory: ImportTarget,
    root: str | os.PathLike[str],
    *,
    importers: Collection[str] | None = None,
    strict: bool = False,
    dry_run: bool = False,
    workspace: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Import the files below `root` (or the one file `root`) that an importer reads; return the report.

    `importers` limits it to those importer ids. A file with a fault is not imported and keeps the rows that
    it brought before; with `strict` one fault keeps everything out. Rows that an earlier import brought from
    below `root` and that no file brings any more are deleted, after the new ones are written; rows without
    `metadata.directory` are somebody's own and are neither overwritten nor deleted. `workspace` makes the
    directory's name relative to it. `on_progress(done, total)` counts records written.

    Raises WorkspaceError when there is no `root`; store and embedder errors pass through.
    """
    source = ImportSource(Path(root), Path(workspace) if workspace is not None else None)
    work = _Import(memory, source, importers)
    work.read()
    work.compare()
    applied = not dry_run and not (strict and work.faults)
    if applied:
        work.apply(on_progress)
    return ImportReport(
        directory=source.identity,
        files=work.files,
        marked=work.marked,
        embedded=work.embedded,
        applied=applied,
        items=tuple(sorted(work.items, key=lambda item: (item.path, item.id))),
        faults=tuple(sorted(work.faults, key=lambda fault: (fault.path, fault.line))),
    )


@frozen
class _Entry:
    """A record that a file brings; `place` is that file's absolute path."""

    place: Path
    path: str
    draft: Draft
    record: MemoryRecord
    tracked: bool


class _Import:
    def __init__(self, memory: ImportTarget, source: ImportSource, importers: Collection[str] | None) -> None:
        self.memory, self.source, self.importers = memory, source, importers
        specs = memory.registry.importers.values()
        self.categories = {spec.category for spec in specs if importers is None or spec.id in importers}
        self.files = self.marked = self.embedded = 0
        self.faults: list[Fault] = []
        self.items: list[ImportItem] = []
        self.entries: list[_Entry] = []
        self.writes: list[_Entry] = []
        self.vectors_from: dict[str, str] = {}
        self.deletes: list[str] = []
        self.kept: set[Path] = set()  # files whose earlier rows stay, because this time they have a fault

    def fault(self, entry: _Entry, message: str) -> None:
        self.faults.append(Fault(entry.path, entry.draft.line, message))
        self.kept.add(entry.place)

    # --- read ---

    def importer(self, path: Path) -> ImporterSpec | None:
        spec: ImporterSpec | None = self.memory.registry.importer_for(path)
        return spec if spec and (self.importers is None or spec.id in self.importers) else None

    def unreadable(self, path: Path, error: OSError) -> None:
        self.faults.append(Fault(str(path), 0, f"cannot be read: {error.strerror}. Its rows are kept."))
        self.kept.add(self.source.placed(path))

    def read(self) -> None:
        paths, marked = self.source.files(self.unreadable)
        self.marked = sum(self.importer(path) is not None for path in marked)
        for path in paths:
            importer = self.importer(path)
            if importer is not None:
                self.files += 1
                self.read_file(importer, path)
        self.fault_duplicates()

    def read_file(self, importer: ImporterSpec, path: Path) -> None:
        place = self.source.placed(path)
        try:
            drafts, found = importer.parse(self.source.base, path, path.read_bytes())
        except OSError as error:
            self.unreadable(path, error)
            return
        except Exception as error:  # a stranger's importer must not stop the other files
            message = f"importer '{importer.id}' failed: {error!r}. `olav plugins` names its author."
            drafts, found = (), (Fault(str(path), 0, message),)
        faults = list(found)
        entries: list[_Entry] = []
        for draft in drafts:
            try:
                tracked = _tracks(self.memory.registry.category(draft.category))
                if tracked:
                    origin = {
                        "source": path.relative_to(self.source.base).as_posix(),
                        "directory": self.source.identity,
                    }
                    draft = evolve(draft, metadata={**draft.metadata, **origin})
                entries.append(_Entry(place, str(path), draft, self.memory.prepare(draft), tracked))
            except OlavError as error:
                faults.append(Fault(str(path), draft.line, str(error)))
        self.faults += faults
        if faults:
            self.kept.add(place)
        else:
            self.entries += entries

    def fault_duplicates(self) -> None:
        groups: dict[tuple[str, ...], list[_Entry]] = {}
        for entry in self.entries:
            groups.setdefault(_name(entry.record), []).append(entry)
        for group in groups.values():
            for entry in group if len(group) > 1 else ():
                others = ", ".join(
                    f"{other.path}:{other.draft.line}" for other in group if other is not entry
                )
                self.fault(entry, f"is the same {_label(entry.record)} as {others}. Rename or remove one.")
        self.entries = [entry for entry in self.entries if entry.place not in self.kept]

    # --- compare ---

    def compare(self) -> None:
        self.categories |= {entry.record.category for entry in self.entries}
        self.memory.store.refresh()
        rows = [row for name in sorted(self.categories) for row in self.memory.store.list(category=name)]
        existing = {row.id: row for row in rows}
        erased = self.memory.store.erased({text_hash(entry.record.text) for entry in self.entries})
        for entry in self.entries:
            self.fault_taken(entry, existing.get(entry.record.id))
            if text_hash(entry.record.text) in erased:
                name = f"{Path(entry.path).name}{REMOVED_SUFFIX}"
                self.fault(entry, f"holds a text that was erased before. Delete it, or add the mark {name}.")
        self.entries = [entry for entry in self.entries if entry.place not in self.kept]
        brought = {entry.record.id for entry in self.entries}
        gone = {row.id: row for row in rows if row.id not in brought and self.is_gone(row)}
        for entry in self.entries:
            record, old = entry.record, existing.get(entry.record.id)
            previous = None if old is not None else self.moved_from(entry, gone.values())
            action: Action = "changed" if old is not None else "moved" if previous is not None else "added"
            if old is not None and self.is_same(entry, old):
                action = "unchanged"
            else:
                self.writes.append(entry)
                source = old or previous
                self.embedded += source is None or source.search_text != record.search_text
            if previous is not None:
                self.vectors_from[record.id] = previous.id
            self.items.append(_item(action, record, entry.path, previous.id if previous else ""))
        self.deletes = list(gone)
        for identifier in gone.keys() - set(self.vectors_from.values()):
            row = gone[identifier]
            self.items.append(_item("retired", row, self.source.shown(self.source.place_of(row))))

    def fault_taken(self, entry: _Entry, row: MemoryRecord | None) -> None:
        """Fault an entry whose row belongs to somebody else: a person, or a file outside this import."""
        if row is None or not entry.tracked:
            return
        place = self.source.place_of(row)
        if place is None:
            # A directive that no import brought may be adopted; anything else somebody wrote by hand.
            if row.origin == "directive" or row.text == entry.record.text:
                return
            owner = f"a row of origin '{row.origin}' that no import brought"
            remedy = f"Rename it here, or run `olav forget {row.id}` first."
        elif self.source.covers(place) or not place.is_file() or place.samefile(entry.path):
            return
        else:
            owner = f"{place}, imported before"
            remedy = "Give one of them another name or scope, or remove that file and import its directory."
        self.fault(entry, f"is the same {_label(entry.record)} as {owner}. {remedy}")

    def is_gone(self, row: MemoryRecord) -> bool:
        place = self.source.place_of(row)
        if place is None or not self.source.covers(place) or self.importer(place) is None:
            return False
        return not any(place.is_relative_to(kept) for kept in self.kept)

    def moved_from(self, entry: _Entry, gone: Iterable[MemoryRecord]) -> MemoryRecord | None:
        """Return the row that this entry was under another scope, first of all one from the same file."""
        record = entry.record
        spec: CategorySpec = self.memory.registry.category(record.category)
        key, taken = spec.dedupe_key(record), set(self.vectors_from.values())
        rows = [row for row in gone if row.category == spec.id and row.id not in taken]
        rows = [row for row in rows if spec.dedupe_key(evolve(row, scope=record.scope)) == key]
        return min(rows, key=lambda row: self.source.place_of(row) != entry.place, default=None)

    def is_same(self, entry: _Entry, row: MemoryRecord) -> bool:
        record = entry.record
        ours, theirs = dict(record.metadata), dict(row.metadata)
        if self.source.place_of(row) == entry.place:  # one file, imported by way of another folder
            for values in (ours, theirs):
                values.pop("directory", None)
                values.pop("source", None)
        names = ("text", "search_text", "scope", "origin", "confidence")
        if any(getattr(record, name) != getattr(row, name) for name in names):
            return False
        if _json(ours) != _json(theirs) or sorted(record.tags) != sorted(row.tags):
            return False
        if entry.draft.expires_at is None and record.expires_at is not None:
            # The category's ttl, counted from each import: rewrite only what has expired.
            return row.expires_at is not None and row.expires_at > clock.now()
        return record.expires_at == row.expires_at

    # --- apply ---

    def apply(self, on_progress: Callable[[int, int], None] | None) -> None:
        total = len(self.writes)
        failed: set[str] = set()
        for start in range(0, total, BATCH):
            batch = self.writes[start : start + BATCH]
            outcomes = self.memory.write([entry.record for entry in batch], vectors_from=self.vectors_from)
            for entry, outcome in zip(batch, outcomes, strict=True):
                if outcome.error is not None:
                    failed |= {entry.record.id, self.vectors_from.get(entry.record.id, "")}
                    self.fault(entry, f"was not stored: {outcome.error}")
            if on_progress is not None:
                on_progress(min(start + BATCH, total), total)
        self.items = [item for item in self.items if item.id not in failed]
        # New rows first: a death in between leaves a row too many, which the next import retires.
        deletes = [identifier for identifier in self.deletes if identifier not in failed]
        if deletes:
            self.memory.store.delete(deletes)


def _tracks(spec: CategorySpec) -> bool:
    """Say whether rows of a category can tell which file of which directory brought them."""
    if spec.metadata is None:
        return True
    return has(spec.metadata) and {"source", "directory"} <= fields_dict(spec.metadata).keys()


def _name(record: MemoryRecord) -> tuple[str, ...]:
    # A guide is known by (agent, intent) whatever its scope: two of them would contradict each other.
    if record.metadata.get("intent"):
        return (record.category, str(record.metadata.get("agent", "")), str(record.metadata["intent"]))
    return (record.id,)


def _label(record: MemoryRecord) -> str:
    name = record.metadata.get("intent") or record.metadata.get("tag") or record.id
    agent = f" of agent '{record.metadata['agent']}'" if record.metadata.get("agent") else ""
    return f"{record.category} '{name}'{agent}"


def _item(action: Action, record: MemoryRecord, path: str, previous: str = "") -> ImportItem:
    return ImportItem(
        action=action,
        id=record.id,
        category=record.category,
        scope=record.scope,
        path=path,
        previous_id=previous,
    )


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
