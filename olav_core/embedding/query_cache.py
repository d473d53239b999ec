"""What was made of the last queries: each one's vector and token vectors, which come and go together."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray

#: Bytes of token vectors that are kept: 2,048 queries of 12 tokens of 128 dimensions take 12 MB.
TOKEN_BYTES = 16 * 2**20


@frozen(eq=False)
class EmbeddedQuery:
    """A query's unit vector float32 [d], and its token vectors as a ranker needs them; None without any."""

    vector: FloatArray
    tokens: FloatArray | None = None

    @property
    def token_bytes(self) -> int:
        return 0 if self.tokens is None else int(self.tokens.nbytes)


class QueryCache:
    """Text -> EmbeddedQuery; at most `size`, the least recently used going first. Thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[str, EmbeddedQuery] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __contains__(self, text: str) -> bool:
        with self._lock:
            return text in self._kept

    def get(self, text: str) -> EmbeddedQuery | None:
        with self._lock:
            known = self._kept.get(text)
            if known is not None:
                self._kept.move_to_end(text)
            return known

    def put(self, text: str, made: EmbeddedQuery) -> None:
        with self._lock:
            if (replaced := self._kept.pop(text, None)) is not None:
                self._bytes -= replaced.token_bytes
            self._kept[text] = made
            self._bytes += made.token_bytes
            while len(self._kept) > self._size or (self._bytes > TOKEN_BYTES and len(self._kept) > 1):
                self._bytes -= self._kept.popitem(last=False)[1].token_bytes
