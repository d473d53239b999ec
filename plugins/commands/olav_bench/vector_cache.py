"""Vectors kept between runs: one SQLite file per embedding space, a row per text."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import asdict

from olav_core import ModelIdentity, OlavError

if TYPE_CHECKING:
    from olav_core import FloatArray

#: Keys of one SQL query: SQLite takes at least 999 parameters.
CHUNK = 500


def cache_directory() -> Path:
    """Return where vectors and reports are kept, below OLAV_CACHE_DIR or the user's cache."""
    base = os.environ.get("OLAV_CACHE_DIR")
    return Path(base or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "olav") / "bench"


class VectorCache:
    """float32 vectors by text, of one space: what `ModelIdentity` says is in the file's name. A batch is on
    disk when `put` returns, so an interrupted run goes on where it was. Processes may share a file."""

    def __init__(self, directory: Path, embedder: str, identity: ModelIdentity) -> None:
        told = json.dumps([embedder, asdict(identity)], sort_keys=True, default=str)
        self.path = (
            directory / "vectors" / f"{embedder}-{hashlib.sha256(told.encode()).hexdigest()[:16]}.sqlite"
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as file:
                file.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB)")
        except (OSError, sqlite3.DatabaseError) as error:
            raise OlavError(
                f"The vector cache {self.path} cannot be used: {error}. Delete it, or give another --cache."
            ) from error

    def get(self, texts: Sequence[str]) -> dict[str, FloatArray]:
        """Return the vectors that are there, by text."""
        import numpy as np

        by_key = {_key(text): text for text in texts}
        keys = list(by_key)
        found: dict[str, FloatArray] = {}
        with closing(self._open()) as file:
            for start in range(0, len(keys), CHUNK):
                part = keys[start : start + CHUNK]
                marks = ",".join("?" * len(part))
                rows = file.execute(f"SELECT text, vector FROM vectors WHERE text IN ({marks})", part)
                found.update((by_key[key], np.frombuffer(raw, "<f4").astype(np.float32)) for key, raw in rows)
        return found

    def put(self, vectors: Mapping[str, FloatArray]) -> None:
        """Keep vectors by text, in one commit."""
        rows = [(_key(text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
        with closing(self._open()) as file, file:
            file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def clear(self) -> None:
        """Forget every vector."""
        with closing(self._open()) as file, file:
            file.execute("DELETE FROM vectors")

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=60)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
