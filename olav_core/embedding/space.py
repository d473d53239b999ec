"""The embedding space of an open store: is the configured embedder the one that wrote the vectors?"""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

from olav_core.embedding.fingerprint import Fingerprint, check
from olav_core.errors import EmbeddingSpaceMismatchError

if TYPE_CHECKING:
    from olav_core.embedding.handle import EmbedderHandle
    from olav_core.store.store import Store

#: Debug only: set to 1, a mismatch destroys every row instead of being refused.
DESTRUCTIVE_VARIABLE = "OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION"


class EmbeddingSpace:
    """Compares fingerprints once per open store, at the first recall or write."""

    def __init__(self, store: Store, embedder: EmbedderHandle) -> None:
        self._store = store
        self._embedder = embedder
        self._lock = Lock()
        self._checked = ""

    def check(self) -> None:
        """Raise EmbeddingSpaceMismatchError on any disagreement, before a vector is read or written.

        Raises EmbedderUnavailableError when the embedder cannot be asked: that is no mismatch.
        """
        stored = self._store.fingerprint  # once: a re-embed may switch it at any moment
        if self._checked == stored:
            return
        with self._lock:
            current = self._embedder.fingerprint()
            try:
                check(Fingerprint.from_json(stored), current, store=self._store.uri)
            except EmbeddingSpaceMismatchError:
                if os.environ.get(DESTRUCTIVE_VARIABLE) != "1":
                    raise
                stored = current.to_json()
                self._store.destroy_rows(stored)
            self._checked = stored
