"""The token store: int8 token vectors of texts in one file beside the index, derived and bounded."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray

#: Bytes of the file beyond which the rows that were put first go: 100,000 texts of 40 tokens, 128 dimensions.
MAX_BYTES = 512 * 2**20
#: Bytes of rows kept in memory, the least recently used going first.
MEMORY_BYTES = 32 * 2**20
#: How long a reader waits for another process, seconds: a recall does without, a writer has time.
READ_WAIT = 0.05
WRITE_WAIT = 5.0
#: Tokens kept of one text: a passage of 600 tokens whole.
MAX_TOKENS = 1_024
_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
    key INTEGER PRIMARY KEY, language TEXT NOT NULL, count INTEGER NOT NULL, cells BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS age (number INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL UNIQUE);
"""
_T = TypeVar("_T")
_log = logging.getLogger("olav.index")


@frozen(eq=False)
class TokenCells:
    """One text's token vectors: int8 [tokens, d], each row times its own scale float32 [tokens]."""

    language: str
    values: NDArray[np.int8]
    scales: FloatArray

    @property
    def size(self) -> int:
        return int(self.values.nbytes + self.scales.nbytes)


def key_of(text: str) -> int:
    """Return the 63 bits that a text's token vectors are kept under."""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def quantised(language: str, vectors: FloatArray) -> TokenCells:
    """Return float32 [tokens, d] as int8; what a vector loses is below 0.4 % of its largest component."""
    import numpy as np

    vectors = vectors[:MAX_TOKENS]
    largest = np.abs(vectors).max(axis=1) if len(vectors) else np.zeros(0, np.float32)
    scales = np.maximum(largest / 127, 1e-12).astype(np.float32)
    return TokenCells(language, np.round(vectors / scales[:, None]).astype(np.int8), scales)


class _Connection:
    """A connection with the lock that its use needs; opened at first use, and again in a forked process."""

    def __init__(self, opening: Callable[[], sqlite3.Connection]) -> None:
        self.lock = threading.RLock()
        self._opening = opening
        self._opened: tuple[int, sqlite3.Connection] | None = None

    def opened(self) -> sqlite3.Connection:
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = os.getpid(), self._opening()
        return self._opened[1]

    def close(self) -> None:
        with self.lock:
            if self._opened is not None and self._opened[0] == os.getpid():
                self._opened[1].close()
            self._opened = None


class TokenStore:
    """Texts' token vectors by `key_of`, in a SQLite file that processes share; None keeps them in memory.

    `identity` names model and projection: a file of another identity is emptied. A damaged file is begun
    anew, one that cannot be written is left for memory; nothing is raised for what can be made again.
    Thread-safe.
    """

    def __init__(self, path: Path | None, identity: str, *, max_bytes: int = MAX_BYTES) -> None:
        self._path, self._identity, self._max_bytes = path, identity, max_bytes
        # Two connections: a recall must not wait behind a writer that waits for another process.
        self._writer, self._reader = _Connection(self._open), _Connection(self._open_to_read)
        self._lock = threading.Lock()  # of what is kept in memory; never held while the file is asked
        self._erasures = 0
        self._recent: OrderedDict[int, TokenCells] = OrderedDict()
        self._recent_bytes = 0

    def get(self, keys: Sequence[int]) -> dict[int, TokenCells]:
        """Return what is known of `keys`."""
        with self._lock:
            found = {key: self._recent[key] for key in keys if key in self._recent}
            for key in found:
                self._recent.move_to_end(key)
            erasures = self._erasures
        unknown = [key for key in dict.fromkeys(keys) if key not in found]
        rows = self._select("SELECT key, language, count, cells FROM tokens WHERE key IN", unknown)
        read = {row[0]: _unpacked(*row[1:]) for row in rows}
        with self._lock:
            if self._erasures == erasures:  # else it may have been erased since it was read
                for key, cells in read.items():
                    self._keep(key, cells)
        return {**found, **read}

    def put(self, rows: Iterable[tuple[int, TokenCells]]) -> None:
        """Keep the token vectors of texts, in one transaction."""
        packed = [
            (key, cells.language, len(cells.scales), cells.scales.tobytes() + cells.values.tobytes())
            for key, cells in rows
        ]

        def write(database: sqlite3.Connection) -> None:
            with database:
                database.execute("BEGIN IMMEDIATE")
                database.executemany("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)", packed)
                database.executemany(
                    "INSERT OR REPLACE INTO age (key) VALUES (?)", [row[:1] for row in packed]
                )
                self._make_room(database)

        if packed:
            self._do(self._writer, write, None)

    def missing(self, keys: Collection[int]) -> set[int]:
        """Return the keys that nothing is kept of."""
        rows = self._select("SELECT key FROM tokens WHERE key IN", list(keys))
        return set(keys) - {row[0] for row in rows}

    def count(self) -> int:
        """Return the number of texts."""
        # Of `age`, which has a row for each and is small: counting `tokens` reads the whole file.
        return sum(row[0] for row in self._all("SELECT COUNT(*) FROM age", ()))

    def has_room(self) -> bool:
        """Return whether texts can come without others having to go, which makes a tenth of room."""
        return self._do(self._writer, _used, 0) < 0.85 * self._max_bytes

    def sample(self, most: int) -> list[TokenCells]:
        """Return up to `most` texts; keys are hashes, so the first are as good as any."""
        query = "SELECT language, count, cells FROM tokens ORDER BY key LIMIT ?"
        return [_unpacked(*row) for row in self._all(query, (most,))]

    def keep_only(self, keys: Collection[int]) -> int:
        """Erase every other text; return how many went. Erased bytes are overwritten in the file."""
        kept = set(keys)

        def erase(database: sqlite3.Connection) -> int:
            gone = [(key,) for (key,) in database.execute("SELECT key FROM tokens") if key not in kept]
            with database:
                database.executemany("DELETE FROM tokens WHERE key = ?", gone)
                database.executemany("DELETE FROM age WHERE key = ?", gone)
            if gone:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return len(gone)

        try:
            return self._do(self._writer, erase, 0)
        finally:
            with self._lock:
                self._erasures += 1
                self._recent.clear()
                self._recent_bytes = 0

    def close(self) -> None:
        self._writer.close()
        self._reader.close()

    # --- inside ---------------------------------------------------------------------------------

    def _all(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        nothing: list[Any] = []
        # What is in memory only, a second connection would not see; no other process is in the way there.
        connection = self._writer if self._path is None else self._reader
        return self._do(connection, lambda database: database.execute(query, values).fetchall(), nothing)

    def _select(self, query: str, keys: list[int]) -> list[Any]:
        rows: list[Any] = []
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            rows += self._all(f"{query} ({marks})", tuple(part))
        return rows

    def _do(self, connection: _Connection, action: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        for _ in range(2):
            try:
                with connection.lock:
                    return action(connection.opened())
            except sqlite3.OperationalError as error:  # another process's lock, a full or read-only disk
                _log.info("The token store was passed over: %s", error)
                return otherwise
            except sqlite3.DatabaseError as error:
                _log.warning("The token store is begun anew: %s", error)
                with self._writer.lock, self._reader.lock:
                    self.close()
                    self._remove()
        return otherwise

    def _open(self) -> sqlite3.Connection:
        try:
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            database = self._prepared(self._path or ":memory:")
        except (sqlite3.OperationalError, OSError) as error:
            _log.warning("Token vectors are kept in memory: %s cannot be used (%s)", self._path, error)
            self._path = None
            database = self._prepared(":memory:")
        return database

    def _open_to_read(self) -> sqlite3.Connection:
        """Open the file as it is: one that is not there yet, or of another identity, gives nothing."""
        if self._path is None:
            raise sqlite3.OperationalError("kept in memory")
        place = f"{self._path.absolute().as_uri()}?mode=rw"
        database = sqlite3.connect(place, uri=True, check_same_thread=False, timeout=READ_WAIT)
        try:
            if database.execute("SELECT identity FROM about").fetchall() != [(self._identity,)]:
                raise sqlite3.OperationalError("it is another model's")
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database

    def _prepared(self, place: Path | str) -> sqlite3.Connection:
        database = sqlite3.connect(place, check_same_thread=False, timeout=WRITE_WAIT)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")  # derived: a power cut costs a rebuild
        database.execute("PRAGMA secure_delete = ON")
        with database:
            database.executescript(_SCHEMA)
            database.execute("BEGIN IMMEDIATE")
            if database.execute("SELECT identity FROM about").fetchall() != [(self._identity,)]:
                for table in ("about", "tokens", "age"):
                    database.execute(f"DELETE FROM {table}")
                database.execute("INSERT INTO about VALUES (?)", (self._identity,))
        return database

    def _make_room(self, database: sqlite3.Connection) -> None:
        with closing(database.cursor()) as cursor:
            if _used(cursor) > self._max_bytes:
                tenth = cursor.execute("SELECT COUNT(*) FROM age").fetchone()[0] // 10 + 1
                oldest = "SELECT key FROM age ORDER BY number LIMIT ?"
                gone = cursor.execute(oldest, (tenth,)).fetchall()
                cursor.executemany("DELETE FROM tokens WHERE key = ?", gone)
                cursor.executemany("DELETE FROM age WHERE key = ?", gone)

    def _remove(self) -> None:
        if self._path is not None:
            for suffix in ("", "-wal", "-shm"):
                with suppress(OSError):
                    self._path.with_name(self._path.name + suffix).unlink()

    def _keep(self, key: int, cells: TokenCells) -> None:
        if (replaced := self._recent.pop(key, None)) is not None:  # two recalls read it at once
            self._recent_bytes -= replaced.size
        self._recent[key] = cells
        self._recent_bytes += cells.size
        while self._recent_bytes > MEMORY_BYTES:
            self._recent_bytes -= self._recent.popitem(last=False)[1].size


def _used(database: sqlite3.Connection | sqlite3.Cursor) -> int:
    size, pages, free = (
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_size", "page_count", "freelist_count")
    )
    return int(size * (pages - free))


def _unpacked(language: str, count: int, cells: bytes) -> TokenCells:
    import numpy as np

    scales = np.frombuffer(cells, np.float32, count)
    values = np.frombuffer(cells, np.int8, offset=4 * count)
    return TokenCells(language, values.reshape(count, len(values) // count if count else 0), scales)
