"""Keeping the lexical index in step: what is committed, what is scored in memory, when to fold."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from olav_core.index.index_files import BrokenIndexError
from olav_core.index.lexical import LexicalIndex, LexicalWriter
from olav_core.index.pending import LexicalRow, PendingRows
from olav_core.text.analyzer import analyze

if TYPE_CHECKING:
    from olav_core.index.rows import RowTable

#: Rows scored in memory before a fold (a commit costs about 10 ms, scoring these 0.1 ms).
FOLD_ROWS = 64
#: Rows analysed before they go to the writer, so that memory stays flat while an index is built.
SPILL_ROWS = 2_000
#: How long a build waits for another process that builds the same index, seconds.
BUILD_WAIT = 10.0


class LexicalSync:
    """One process's view of a lexical index: committed rows plus `pending` rows are always the resident rows.

    Rows are compared by digest, not by version, so an index that is behind, ahead, half written or another
    table's is brought in step by what differs. A broken index raises nothing while rows come in: `broken`
    says why, and `reset` starts over.
    """

    def __init__(self, directory: Path | None, identity: str) -> None:
        self.index = LexicalIndex(directory, identity)
        self.pending = PendingRows()  # replaced at a fold, so that a pool keeps the one it began with
        self.broken = ""
        self._deletes: set[int] = set()
        self._entries: Mapping[int, int] | None = None
        self._writer: LexicalWriter | None = None
        self._version = -1
        self._waited = True

    @property
    def behind(self) -> int:
        return len(self.pending)

    @property
    def committed_rows(self) -> int:
        return max(int(self.index.snapshot.searcher.num_docs) - 1, 0)

    @property
    def due(self) -> bool:
        """Whether a fold is worth its commit."""
        return self._writer is not None or len(self.pending) + len(self._deletes) > FOLD_ROWS

    def check(self) -> None:
        """Notice a directory that was deleted under the index."""
        directory = self.index.directory
        if directory is not None and not self.index.in_memory and not (directory / "meta.json").exists():
            self.broken = self.broken or "its directory was deleted"

    def report_broken(self, reason: str) -> None:
        """Note that a search could not read the index."""
        self.broken = self.broken or reason

    def begin(self, version: int, *, all_rows: bool) -> None:
        """Start taking in the changes up to a table version; `all_rows` says that every row will come."""
        self._version = version
        self._entries, self._waited = None, not all_rows
        try:
            self.index.reload()
            if all_rows:
                self.pending = PendingRows()
                self._entries = self.index.snapshot.entries()
        except BrokenIndexError as error:
            self.broken = str(error)

    def put(
        self,
        rowids: Sequence[int],
        texts: Sequence[str],
        scopes: Sequence[str],
        categories: Sequence[str],
        digests: Iterable[int],
    ) -> None:
        """Take in rows that are new or changed; those that the index holds already cost a lookup."""
        if self.broken:
            return
        try:
            committed = self._committed(rowids)
            for row in zip(rowids, texts, scopes, categories, digests, strict=True):
                rowid, text, scope, category, digest = row
                self._deletes.discard(rowid)
                pending = self.pending.rows.get(rowid)
                if committed.get(rowid) == digest:
                    self.pending.drop(rowid)
                elif pending is None or pending.digest != digest:
                    self.pending.put(LexicalRow(rowid, tuple(analyze(text)), scope, category, digest))
            if len(self.pending) >= SPILL_ROWS:
                self._spill()
        except BrokenIndexError as error:
            self.broken = str(error)

    def remove(self, rowids: Iterable[int]) -> None:
        """Take out rows that the table holds no more."""
        for rowid in rowids:
            self.pending.drop(rowid)
            self._deletes.add(rowid)

    def remove_strangers(self, rows: RowTable) -> None:
        """After all rows came: take out what the index holds beyond them."""
        import numpy as np

        if self._entries:
            committed = np.fromiter(self._entries.keys(), dtype=np.uint64, count=len(self._entries))
            self.remove(committed[rows.slots_of(committed) < 0].tolist())
        self._entries = None

    def fold(self, version: int) -> bool:
        """Commit everything pending; False while another process holds the writer or is ahead of `version`.

        Raises BrokenIndexError.
        """
        snapshot = self.index.snapshot
        idle = self._writer is None and not self.pending and not self._deletes
        if idle and (snapshot.covered >= version or not self.committed_rows):
            return True
        self._version = version
        self._spill()
        if self._writer is None:
            return False
        writer, self._writer = self._writer, None
        writer.delete(list(self._deletes))
        writer.commit(version)
        self._deletes.clear()
        self._entries = None
        return True

    def abort(self) -> None:
        """Let go of the writer; rows that were handed to it are lost, so the index counts as broken."""
        if self._writer is not None:
            self.broken = "its update was interrupted"
            writer, self._writer = self._writer, None
            writer.abandon()

    def reset(self, reason: str, *, in_memory: bool = False) -> None:
        """Start over with an empty index; every row must be put again."""
        self._writer = None
        self.index.reset(reason, in_memory=in_memory)
        self.pending = PendingRows()
        self.broken = ""
        self._deletes.clear()
        self._entries, self._waited = {}, True

    def _spill(self) -> None:
        """Hand the pending rows to the writer, if it is free."""
        if self._writer is None:
            self._writer = self._acquire()
        if self._writer is None:
            return
        rows = list(self.pending.rows.values())
        committed = self._committed([row.rowid for row in rows])
        changed = [row for row in rows if committed.get(row.rowid) != row.digest]
        self._writer.delete([row.rowid for row in changed if row.rowid in committed])
        self._writer.put(changed, fresh=True)
        self.pending = PendingRows()

    def _acquire(self) -> LexicalWriter | None:
        """Return the writer unless another process has it, or has committed a later table version."""
        deadline = time.monotonic() + (0 if self._waited else BUILD_WAIT)
        self._waited = True
        writer = self.index.writer()
        while writer is None and not self.index.read_only and time.monotonic() < deadline:
            time.sleep(0.05)
            writer = self.index.writer()
        if writer is None:
            return None
        self.index.reload()
        if self._entries is not None:
            self._entries = self.index.snapshot.entries()
        if self.index.snapshot.covered > self._version:
            writer.abandon()
            return None
        return writer

    def _committed(self, rowids: Sequence[int]) -> Mapping[int, int]:
        return self._entries if self._entries is not None else self.index.snapshot.entries(rowids)


def identity_of(uri: str) -> str:
    """Return what tells the index of one table from that of another: 64 bits (hex) of a hash of its URI."""
    return hashlib.sha256(uri.encode()).hexdigest()[:16]


def digest(category: str, scope: str, text: str) -> int:
    """Return 64 bits that change when what the lexical index holds of a row changes."""
    raw = f"{len(category)} {len(scope)} {category}{scope}{text}".encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "little")
