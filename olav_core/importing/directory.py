"""The import of a directory: its files become memories, and memories whose file is gone are retired."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from olav_core.errors import OlavError
from olav_core.importing.departed import Departed
from olav_core.importing.entry import Entry, item, tracks
from olav_core.importing.ownership import taken
from olav_core.importing.placement import Placement
from olav_core.importing.refinement import Refinement
from olav_core.importing.report import Action, ImportItem, ImportReport
from olav_core.importing.sameness import is_same
from olav_core.importing.source import REMOVED_SUFFIX, ImportSource
from olav_core.importing.target import ImportTarget as ImportTarget
from olav_core.records import MemoryRecord, check_scope
from olav_core.specs import Fault, ImporterSpec
from olav_core.store.tombstones import text_hash
from olav_core.succession import Conflict, Settlement
from olav_core.topics import Topics

#: Records written per call: embedders fill their batches, and progress moves every few seconds.
BATCH = 256


def import_directory(
    memory: ImportTarget,
    root: str | os.PathLike[str],
    *,
    importers: Collection[str] | None = None,
    strict: bool = False,
    dry_run: bool = False,
    workspace: str | os.PathLike[str] | None = None,
    scope: str | None = None,
    home: str | os.PathLike[str] | None = None,
    batch: int = BATCH,
    yields: bool = False,
    on_read: Callable[[int, int], None] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Import the files below `root` (or the one file `root`) that an importer reads; return the report.

    `importers` limits it to those importer ids. A file with a fault is not imported and keeps the rows that
    it brought before; with `strict` one fault keeps everything out. Rows that an earlier import brought from
    below `root` and that no file brings any more are deleted, after the new ones are written; rows without
    `metadata.directory` are somebody's own and are neither overwritten nor deleted. `workspace` makes the
    directory's name relative to it. `on_read(done, total)` counts files, `on_progress(done, total)` records
    written.

    `scope` is for memories whose file names none, such as a document's. Without it a file that was imported
    before keeps the scope it has, and a new one gets its category's.

    `home` is where the files count as lying instead of in `root`: rows that came from there are theirs.
    `batch` is the number of records written at once. With `yields` a memory that somebody else brought or
    that was erased is passed over; otherwise it is a fault.

    Raises WorkspaceError when there is no `root`, RecordError for a bad `scope`; store and embedder errors
    pass through.
    """
    if scope is not None:
        check_scope(scope)
    source = ImportSource(
        Path(root),
        Path(workspace) if workspace is not None else None,
        Path(home) if home is not None else None,
    )
    work = _Import(memory, source, importers, scope, yields, dry_run)
    work.read(on_read)
    work.compare()
    applied = not dry_run and not (strict and work.faults)
    if applied:
        work.apply(on_progress, batch)
    elif dry_run:
        work.foresee_conflicts()
    return ImportReport(
        directory=source.identity,
        files=work.files,
        marked=work.marked,
        embedded=work.embedded,
        applied=applied,
        items=tuple(sorted(work.items, key=lambda found: (found.path, found.id))),
        faults=tuple(sorted(work.faults, key=lambda fault: (fault.path, fault.line))),
        conflicts=tuple(work.conflicts),
    )


class _Import:
    def __init__(
        self,
        memory: ImportTarget,
        source: ImportSource,
        importers: Collection[str] | None,
        scope: str | None,
        yields: bool,
        dry_run: bool,
    ) -> None:
        self.memory, self.source, self.importers, self.scope = memory, source, importers, scope
        self.yields, self.refine = yields, Refinement(memory, ask=not dry_run)
        specs = memory.registry.importers.values()
        used = [spec for spec in specs if importers is None or spec.id in importers]
        self.rows: dict[str, list[MemoryRecord]] = {}
        self.version = memory.store.refresh()
        for category in sorted({name for spec in used for name in (spec.category, *spec.also)}):
            self.rows_of(category)
        self.files = self.marked = self.embedded = 0
        self.faults: list[Fault] = []
        self.items: list[ImportItem] = []
        self.conflicts: list[Conflict] = []
        self.entries: list[Entry] = []
        self.writes: list[Entry] = []
        self.vectors_from: dict[str, str] = {}
        self.deletes: list[str] = []
        self.out: set[Path] = set()  # files that a fault keeps out
        self.kept: set[Path] = set()  # files whose earlier rows stay: those, and those that came in part

    def rows_of(self, category: str) -> list[MemoryRecord]:
        """Return the stored rows of a category, read once."""
        if category not in self.rows:
            self.rows[category] = self.memory.store.list(category=category)
        return self.rows[category]

    def fault(self, entry: Entry, message: str) -> None:
        self.faults.append(Fault(entry.path, entry.draft.line, message))
        self.keep_out(entry.place)

    def keep_out(self, place: Path) -> None:
        self.out.add(place)
        self.kept.add(place)

    # --- read ---

    def importer(self, path: Path) -> ImporterSpec | None:
        spec: ImporterSpec | None = self.memory.registry.importer_for(path)
        return spec if spec and (self.importers is None or spec.id in self.importers) else None

    def unreadable(self, path: Path, error: OSError) -> None:
        why = error.strerror or str(error)
        self.faults.append(Fault(str(path), 0, f"cannot be read: {why}. Its rows are kept."))
        self.keep_out(self.source.placed(path))

    def read(self, on_read: Callable[[int, int], None] | None = None) -> None:
        paths, marked = self.source.files(self.unreadable)
        self.marked = sum(self.importer(path) is not None for path in marked)
        found = [(importer, path) for path in paths if (importer := self.importer(path)) is not None]
        self.files = len(found)
        if self.importers is None and not found and paths == [self.source.root]:
            known = sorted(
                suffix for spec in self.memory.registry.importers.values() for suffix in spec.suffixes
            )
            message = f"no importer reads files of this kind. Known: {', '.join(known)}."
            self.faults.append(Fault(str(self.source.root), 0, message))
        rows = (row for found in self.rows.values() for row in found)
        self.placement = Placement(self.source, self.memory.registry.categories, self.scope, rows)
        for number, (importer, path) in enumerate(found, start=1):
            self.read_file(importer, path)
            if on_read is not None:
                on_read(number, len(found))
        self.fault_duplicates()

    def read_file(self, importer: ImporterSpec, path: Path) -> None:
        place = self.source.placed(path)
        try:
            raw = b"" if importer.opens_path else path.read_bytes()
            drafts, found = importer.parse(self.source.base, path, raw)
        except OSError as error:
            self.unreadable(path, error)
            return
        except Exception as error:  # a stranger's importer must not stop the other files
            message = f"importer '{importer.id}' failed: {error!r}. `olav plugins` names its author."
            drafts, found = (), (Fault(str(path), 0, message),)
        faults = list(found)
        entries: list[Entry] = []
        for draft in self.refine(importer, self.placement(importer, path, drafts), faults):
            try:
                tracked = tracks(self.memory.registry.category(draft.category))
                entries.append(Entry(place, str(path), draft, self.memory.prepare(draft), tracked))
            except OlavError as error:
                faults.append(Fault(str(path), draft.line, str(error)))
        self.faults += faults
        if any(fault.blocks for fault in faults):
            self.keep_out(place)
            return
        if faults:
            self.kept.add(place)
        self.entries += entries

    def fault_duplicates(self) -> None:
        groups: dict[tuple[str, ...], list[Entry]] = {}
        for entry in self.entries:
            groups.setdefault(entry.name, []).append(entry)
        for group in groups.values():
            for entry in group if len(group) > 1 else ():
                others = ", ".join(
                    f"{other.path}:{other.draft.line}" for other in group if other is not entry
                )
                self.fault(entry, f"is the same {entry.label} as {others}. Rename or remove one.")
        self.entries = [entry for entry in self.entries if entry.place not in self.out]

    # --- compare ---

    def compare(self) -> None:
        if self.memory.store.refresh() != self.version:  # others wrote while the files were read
            self.rows = {category: self.memory.store.list(category=category) for category in self.rows}
        for entry in self.entries:
            self.rows_of(entry.record.category)
        rows = [row for found in self.rows.values() for row in found]
        existing = {row.id: row for row in rows}
        erased = self.memory.store.erased({text_hash(entry.record.text) for entry in self.entries})
        forgotten = set()
        for entry in self.entries:
            if owned := taken(entry, existing.get(entry.record.id), self.source):
                if self.yields:
                    forgotten.add(entry.record.id)
                    self.items.append(item("kept", entry.record, entry.path))
                    continue
                self.fault(entry, owned)
            if text_hash(entry.record.text) not in erased:
                continue
            if self.yields or entry.record.origin == "document":  # one passage of many: the others come in
                forgotten.add(entry.record.id)
                self.items.append(item("erased", entry.record, entry.path))
            else:
                name = f"{Path(entry.path).name}{REMOVED_SUFFIX}"
                self.fault(entry, f"holds a text that was erased before. Delete it, or add the mark {name}.")
        self.entries = [
            entry
            for entry in self.entries
            if entry.place not in self.out and entry.record.id not in forgotten
        ]
        brought = {entry.record.id for entry in self.entries}
        gone = {row.id: row for row in rows if row.id not in brought and self.is_gone(row)}
        left = Departed(self.memory.registry, gone.values())
        for entry in self.entries:
            record, old = entry.record, existing.get(entry.record.id)
            previous = None if old is not None else self.moved_from(entry, left)
            action: Action = "changed" if old is not None else "moved" if previous is not None else "added"
            if old is not None and is_same(entry, old, self.source, self.memory.registry.categories):
                action = "unchanged"
            else:
                self.writes.append(entry)
                source = old or previous
                self.embedded += source is None or source.search_text != record.search_text
            if previous is not None:
                self.vectors_from[record.id] = previous.id
            self.items.append(item(action, record, entry.path, previous.id if previous else ""))
        self.deletes = list(gone)
        for identifier in gone.keys() - set(self.vectors_from.values()):
            row = gone[identifier]
            self.items.append(item("retired", row, self.source.shown(self.source.place_of(row))))

    def is_gone(self, row: MemoryRecord) -> bool:
        place = self.source.place_of(row)
        if place is None or not self.source.reads(place) or self.importer(place) is None:
            return False
        return not any(place.is_relative_to(kept) for kept in self.kept)

    def moved_from(self, entry: Entry, left: Departed) -> MemoryRecord | None:
        """Return the row that this entry was under another scope or file name, first of all one from the
        same file."""
        taken = set(self.vectors_from.values())
        rows = [row for row in left.like(entry.record) if row.id not in taken]
        return min(rows, key=lambda row: self.source.place_of(row) != entry.place, default=None)

    def foresee_conflicts(self) -> None:
        """Find what the writes would contradict, and write nothing."""
        records = [entry.record for entry in self.writes]
        topics = Topics(self.memory.store, self.memory.registry.categories)
        found = Settlement(topics, records).conflicts
        self.conflicts = [conflict for conflicts in found.values() for conflict in conflicts]

    # --- apply ---

    def apply(self, on_progress: Callable[[int, int], None] | None, size: int) -> None:
        total = len(self.writes)
        failed: set[str] = set()
        for start in range(0, total, size):
            batch = self.writes[start : start + size]
            outcomes = self.memory.write([entry.record for entry in batch], vectors_from=self.vectors_from)
            for entry, outcome in zip(batch, outcomes, strict=True):
                self.conflicts += outcome.conflicts
                if outcome.error is not None:
                    failed |= {entry.record.id, self.vectors_from.get(entry.record.id, "")}
                    self.fault(entry, f"was not stored: {outcome.error}")
            if on_progress is not None:
                on_progress(min(start + size, total), total)
        self.items = [found for found in self.items if found.id not in failed]
        # New rows first: a death in between leaves a row too many, which the next import retires.
        deletes = [identifier for identifier in self.deletes if identifier not in failed]
        if deletes:
            gone = self.memory.store.existing(deletes)
            self.memory.store.delete(deletes)
            self.memory.release(list(gone.values()))
