"""The import of JSON lines: rows of an export as they were, or drafts, one a line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from olav_core.embedding.fingerprint import Fingerprint, check
from olav_core.errors import OlavError, RecordError, StoreError, WorkspaceError
from olav_core.importing.entry import item
from olav_core.importing.exported_row import END, FORMAT, HEADER, from_object
from olav_core.importing.jsonl import decode_line, draft_of
from olav_core.importing.report import ImportItem, ImportReport
from olav_core.records import MemoryRecord, check_scope
from olav_core.redaction.masking import masked
from olav_core.specs import Fault
from olav_core.store.tombstones import text_hash

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.memory import Memory
    from olav_core.succession import Conflict

#: Rows per commit: embedders fill their batches, and memory stays flat in the length of the file.
BATCH = 512


def import_jsonl(
    memory: Memory,
    path: str | os.PathLike[str],
    *,
    scope: str | None = None,
    strict: bool = False,
    dry_run: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Import a JSON lines file and return the report, one item per line.

    A line with an `id` is a row of an export: it comes back as it was, whatever its category, with its times
    and counts. Its vector is taken when the file's embedding space is the store's, else it is embedded. A
    stored row that is newer or equal stays, and a forgotten text stays out. Secrets are masked as on every
    way in. A line without `id` has the fields of a Draft; `scope` is for those that name none.

    A faulty line is told and the others are imported; with `strict` one fault keeps everything out.
    `on_progress(done, total)` counts bytes of the file. Raises WorkspaceError when the file cannot be read.
    """
    if scope is not None:
        check_scope(scope)
    work = _Restore(memory, Path(path), scope, write=False)
    if strict or dry_run:
        work.run(None)
    applied = not dry_run and not (strict and work.faults)
    if applied:
        work = _Restore(memory, Path(path), scope, write=True)
        work.run(on_progress)
    return ImportReport(
        directory=Path(path).parent.as_posix(),
        files=1,
        embedded=work.embedded,
        applied=applied,
        items=tuple(work.items),
        faults=tuple(work.faults),
        conflicts=tuple(work.conflicts),
    )


@frozen
class _Row:
    line: int
    record: MemoryRecord
    vector: FloatArray | None = None
    exported: bool = False
    dated: bool = True


class _Restore:
    def __init__(self, memory: Memory, path: Path, scope: str | None, *, write: bool) -> None:
        self.memory, self.path, self.scope, self.write = memory, path, scope, write
        self.same_space = False
        self.announced: int | None = None
        self.rows = self.embedded = 0
        self.items: list[ImportItem] = []
        self.faults: list[Fault] = []
        self.conflicts: list[Conflict] = []

    def fault(self, line: int, message: str) -> None:
        self.faults.append(Fault(str(self.path), line, message))

    def run(self, on_progress: Callable[[int, int], None] | None) -> None:
        batch: dict[str, _Row] = {}
        for row, position, size in self.read():
            if len(batch) == BATCH or row.record.id in batch:
                self.flush(list(batch.values()))
                batch.clear()
                if on_progress is not None:
                    on_progress(position, size)
            batch[row.record.id] = row
        self.flush(list(batch.values()))
        if self.announced is not None and self.announced != self.rows:
            self.fault(0, f"ends after {self.rows:,} of {self.announced:,} rows. Copy the export again.")

    def read(self) -> Iterator[tuple[_Row, int, int]]:
        """Yield (row, position in bytes, size in bytes) of the sound lines."""
        try:
            with self.path.open("rb") as lines:
                size, position, started = os.fstat(lines.fileno()).st_size, 0, False
                for number, line in enumerate(lines, start=1):
                    position += len(line)
                    line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                    if not line.strip():
                        continue
                    try:
                        value = decode_line(line)
                        if HEADER in value:
                            started, self.announced = True, -1
                            self.begin(value)
                        elif END in value:
                            self.announced = int(value[END])
                        else:
                            self.rows += 1
                            yield self.row(value, number), position, size
                    except (OlavError, ValueError) as error:
                        self.fault(number, str(error))
        except OSError as error:
            raise WorkspaceError(f"{self.path} cannot be read: {error.strerror}. Check the path.") from error
        if started and self.announced == -1:
            self.announced = None
            self.fault(0, "its last line is missing: the export was cut short. Copy the file again.")

    def begin(self, header: dict[str, Any]) -> None:
        if header[HEADER] != FORMAT:
            raise RecordError(
                f"an export of format {header[HEADER]!r}, this release reads {FORMAT}. Upgrade olav-core."
            )
        try:
            space = Fingerprint.from_json(json.dumps(header.get("fingerprint")))
            check(space, Fingerprint.from_json(self.memory.store.fingerprint), store=str(self.path))
            self.same_space = True
        except StoreError:  # another space, or none that can be read: its vectors are of no use here
            self.same_space = False

    def row(self, value: dict[str, Any], line: int) -> _Row:
        if "id" not in value:
            draft = draft_of(value, line)
            if draft.scope is None and self.scope is not None:
                draft = evolve(draft, scope=self.scope)
            return _Row(line, self.memory.prepare(draft), dated=draft.timestamp is not None)
        record, vector = from_object(value)
        clean, _ = masked(record, self.memory.registry, self.memory.categories)
        if clean.search_text != record.search_text or not self.same_space:
            vector = None
        if vector is not None and vector.size != self.memory.store.dimension:
            raise RecordError(
                f"field 'vector' has {vector.size} dimensions, the store {self.memory.store.dimension}."
            )
        return _Row(line, clean, vector, exported=True)

    def flush(self, rows: Sequence[_Row]) -> None:
        """Compare a batch with the store, and write what is new."""
        if not rows:
            return
        store = self.memory.store
        store.refresh()
        existing = store.existing([row.record.id for row in rows])
        erased = store.erased({text_hash(row.record.text) for row in rows})
        writes: list[_Row] = []
        for row in rows:
            old = existing.get(row.record.id)
            if text_hash(row.record.text) in erased:
                self.say("erased", row)
            elif old is None:
                writes.append(row)
            elif _same(row.record, old):
                later = row.dated and row.record.timestamp > old.timestamp
                writes.extend([row] if later else [])
                if not later:
                    self.say("unchanged", row)
            elif row.exported and row.record.timestamp <= old.timestamp:
                self.say("kept", row)
            else:
                writes.append(row)
        for row in writes:
            old = existing.get(row.record.id)
            known = old is not None and old.search_text == row.record.search_text
            self.embedded += row.vector is None and not known
        failed = self.store_rows(writes) if self.write else {}
        for row in writes:
            if row.record.id in failed:
                self.fault(row.line, f"was not stored: {failed[row.record.id]}")
            else:
                self.say("changed" if row.record.id in existing else "added", row)

    def store_rows(self, rows: Sequence[_Row]) -> dict[str, OlavError]:
        vectors = {row.record.id: row.vector for row in rows if row.vector is not None}
        outcomes = self.memory.write([row.record for row in rows], vectors=vectors) if rows else []
        self.conflicts += [conflict for outcome in outcomes for conflict in outcome.conflicts]
        return {outcome.id: outcome.error for outcome in outcomes if outcome.error is not None}

    def say(self, action: Any, row: _Row) -> None:
        self.items.append(item(action, row.record, str(self.path)))


def _same(record: MemoryRecord, row: MemoryRecord) -> bool:
    names = ("text", "search_text", "scope", "metadata", "origin", "confidence", "tags")
    return all(getattr(record, name) == getattr(row, name) for name in names)
