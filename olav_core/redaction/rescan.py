"""The rescan: find the rows that hold secrets, mask and move them, mend links, then purge.

A moved row is written under its new id first, then what names it is changed, and only then the old row goes:
killed anywhere, the old row is still there for the next run, which does the rest again.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from olav_core.errors import OlavError
from olav_core.redaction.drafted import rescan_drafts
from olav_core.redaction.links import mend_links
from olav_core.redaction.masking import looks_secret, masked
from olav_core.redaction.queries import rescan_queries
from olav_core.redaction.report import Action, RescannedRow, RescanReport
from olav_core.redaction.spooled import rescan_spool
from olav_core.specs import Fault
from olav_core.store import maintenance, swap
from olav_core.store.swap import RowState
from olav_core.writer import Progress

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.records import MemoryRecord

#: Rows that are read and written together.
BATCH: Final = 256
#: Looks at rows that others changed in the middle; one that loses each of them is a fault.
ROUNDS: Final = 4

Pair = tuple[RowState, "MemoryRecord"]


def rescan(memory: Memory, *, dry_run: bool = False, on_progress: Progress | None = None) -> RescanReport:
    """Mask what today's redactors find in the rows, the spool and the index; see Memory.rescan."""
    report = RescanReport(applied=not dry_run)
    if not dry_run:
        memory.captures.drain()
    work = _Rescan(memory, report)
    suspects = work.find(on_progress)
    if not dry_run:
        memory.store.fold_access_counts()  # a moved row takes its count along
        for _ in range(ROUNDS):
            if suspects:
                suspects = work.mask(suspects)
        for rowid in suspects:
            report.faults.append(Fault(f"row {rowid}", 0, "kept changing. Run it again when it is quiet."))
        maintenance.purge(memory.store)
        _rebuild_index(memory)
    rescan_spool(memory, report, write=not dry_run)
    rescan_queries(memory, report, write=not dry_run)
    rescan_drafts(memory, report, write=not dry_run)
    return report


def _rebuild_index(memory: Memory) -> None:
    """Make the word index anew: tantivy keeps the words of a deleted row until a merge takes it in."""
    memory.index.sync()
    tokens = memory._engine.tokens
    if tokens is not None:
        tokens.close()  # else it would go on in a file that is gone; it opens a new one at its next use
    for folder in (memory.workspace.index_directory, memory.workspace.token_path.parent):
        shutil.rmtree(folder, ignore_errors=True)
    memory.index.sync()


@frozen
class _Move:
    rowid: int
    old: str
    revision: int
    new: str
    category: str


class _Rescan:
    def __init__(self, memory: Memory, report: RescanReport) -> None:
        self._memory, self._store, self._report = memory, memory.store, report

    def find(self, on_progress: Progress | None) -> list[int]:
        """Read every row; return the row ids of those that hold secrets."""
        self._store.refresh()
        rowids = self._store.row_ids().tolist()
        suspects: list[int] = []
        scopes: dict[str, bool] = {}
        for start in range(0, len(rowids), BATCH):
            pairs: list[tuple[MemoryRecord, MemoryRecord]] = []
            for rowid, record in self._store.take_present(rowids[start : start + BATCH]).items():
                self._report.rows += 1
                if record.scope not in scopes:
                    scopes[record.scope] = looks_secret(record.scope, self._memory.registry)
                if scopes[record.scope]:
                    self._fault(record.id, "its scope looks like a secret, and scopes are not masked.")
                clean, kinds = self._masked(record)
                if clean != record:
                    suspects.append(rowid)
                    pairs.append((record, clean))
                    self._report.count(kinds)
            if not self._report.applied:
                self._foretell(pairs)
            if on_progress is not None:
                on_progress(min(start + BATCH, len(rowids)), len(rowids))
        return suspects

    def mask(self, rowids: Sequence[int]) -> list[int]:
        """Write these rows masked; return the row ids that others changed meanwhile."""
        left: list[int] = []
        moves: list[_Move] = []
        inserted: set[str] = set()
        for start in range(0, len(rowids), BATCH):
            self._store.refresh()
            chunk = list(rowids[start : start + BATCH])
            pairs = self._pairs(swap.states(self._store, chunk))
            vectors = self._vectors(pairs)
            pairs = [(state, clean) for state, clean in pairs if clean.id in vectors]
            left += self._replace([p for p in pairs if p[0].record.id == p[1].id], vectors)
            moving = [p for p in pairs if p[0].record.id != p[1].id]
            inserted |= self._insert(moving, vectors)
            moves += [_Move(s.rowid, s.record.id, s.revision, c.id, c.category) for s, c in moving]
            swap.forget_kept_vectors(self._store, [state.record.id for state, _ in pairs])
        return left + (self._move(moves, inserted) if moves else [])

    def _pairs(self, states: Sequence[RowState]) -> list[Pair]:
        pairs = [(state, self._masked(state.record)[0]) for state in states]
        return [(state, clean) for state, clean in pairs if clean != state.record]

    def _replace(self, pairs: Sequence[Pair], vectors: Mapping[str, Any]) -> list[int]:
        old, new = [state for state, _ in pairs], [clean for _, clean in pairs]
        written = swap.replace(self._store, old, new, [vectors[clean.id] for clean in new])
        for clean in new:
            if clean.id in written:
                self._note(clean.id, clean.id, clean.category, "masked")
                self._memory.registry.notify_written(clean)
        return [state.rowid for state in old if state.record.id not in written]

    def _insert(self, pairs: Sequence[Pair], vectors: Mapping[str, Any]) -> set[str]:
        fresh = {clean.id: clean for _, clean in pairs}  # two rows that differed in their secrets are one now
        inserted = swap.insert(self._store, list(fresh.values()), [vectors[row_id] for row_id in fresh])
        for row_id in inserted:
            self._memory.registry.notify_written(fresh[row_id])
        return inserted

    def _move(self, moves: Sequence[_Move], inserted: set[str]) -> list[int]:
        """Mend what names the rows, then delete them; return those that changed meanwhile."""
        names = {move.old: move.new for move in moves}
        self._report.links += mend_links(self._store, names)
        swap.rename_in_log(self._store, names)
        gone = swap.delete(self._store, {move.old: move.revision for move in moves})
        self._store.refresh()
        raced = self._store.existing(names) if gone < len(moves) else {}
        for move in moves:
            if move.old not in raced:
                self._note(move.old, move.new, move.category, "moved" if move.new in inserted else "merged")
                inserted.discard(move.new)
        return [move.rowid for move in moves if move.old in raced]

    def _vectors(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Return vectors by new id: the stored one where the search text is the same, else a new one."""
        same = {s.record.id: c.id for s, c in pairs if s.record.search_text == c.search_text}
        vectors = {same[row_id]: vector for row_id, vector in self._store.vectors(same).items()}
        fresh = {clean.id: clean for _, clean in pairs if clean.id not in vectors}
        if fresh:
            self._memory.check_space()
        embedded = self._memory.embedder.passages_each([record.search_text for record in fresh.values()])
        for row_id, vector in zip(fresh, embedded, strict=True):
            if isinstance(vector, OlavError):
                self._fault(row_id, f"was not masked, the embedder refuses its new text: {vector}")
            else:
                vectors[row_id] = vector
        return vectors

    def _masked(self, record: MemoryRecord) -> tuple[MemoryRecord, dict[str, int]]:
        return masked(record, self._memory.registry, self._memory.categories)

    def _foretell(self, pairs: Sequence[tuple[MemoryRecord, MemoryRecord]]) -> None:
        taken = set(self._store.existing([clean.id for _, clean in pairs])) if pairs else set()
        taken |= {item.id for item in self._report.items}
        for old, new in pairs:
            action: Action = "merged" if new.id in taken else "moved"
            self._note(old.id, new.id, old.category, "masked" if old.id == new.id else action)
            taken.add(new.id)

    def _note(self, was: str, now: str, category: str, action: Action) -> None:
        self._report.items.append(RescannedRow(was=was, id=now, category=category, action=action))

    def _fault(self, row_id: str, message: str) -> None:
        self._report.faults.append(Fault(row_id, 0, message))
