"""Where to cut a row of pieces, so that an insertion moves no cut but those near it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

#: Tokens of a passage, counted as `estimate_tokens` does: it is cut somewhere between the two.
LEAST, MOST = 350, 600
T = TypeVar("T")


def windows(items: Sequence[T], size: Callable[[T], int], text: Callable[[T], str]) -> Iterator[Sequence[T]]:
    """Group items in order, each group from LEAST to MOST tokens where the items allow it.

    Among the places where a group may end, the one is taken whose next item has the smallest hash: the cut
    hangs on what stands there, not on how much comes before, so that after an insertion the same places are
    found again within a group or two.
    """
    start = 0
    while start < len(items):
        total, end = 0, start
        places: list[int] = []
        while end < len(items) and (total + size(items[end]) <= MOST or end == start):
            total += size(items[end])
            end += 1
            if total >= LEAST and end < len(items):
                places.append(end)
        if end < len(items):
            end = min(places or [end], key=lambda place: hashlib.sha256(text(items[place]).encode()).digest())
        yield items[start:end]
        start = end
