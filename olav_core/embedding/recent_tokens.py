"""Token vectors of the last few short texts: those of a query are asked for right after its vector."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray

#: Texts, each of at most so many tokens, that are kept: 1.5 MB with 384 dimensions.
TEXTS = 16
TOKENS = 64


class RecentTokens:
    """A text with its prefix -> float32 [tokens, d]. Thread-safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, FloatArray] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, text: str, tokens: FloatArray) -> None:
        """Keep the vectors of a text, when they are few."""
        if len(tokens) <= TOKENS:
            with self._lock:
                self._kept[text] = tokens
                while len(self._kept) > TEXTS:
                    self._kept.popitem(last=False)

    def get(self, text: str) -> FloatArray | None:
        """Return a copy of the vectors of a text, None when they are not kept."""
        with self._lock:
            known = self._kept.get(text)
        return None if known is None else known.copy()
