"""Where to cut a row of pieces, so that an insertion moves no cut but those near it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeVar

#: Tokens of a passage, counted as `estimate_tokens` does: it is cut somewhere between the two.
LEAST, MOST = 280, 600
T = TypeVar("T")


def windows(items: Sequence[T], size: Callable[[T], int], text: Callable[[T], str]) -> list[Sequence[T]]:
    """Group items in order, each group from LEAST to MOST tokens where the items allow it.

    A row that is too long is cut before the item with the smallest hash, of those that leave LEAST on both
    sides, and its halves likewise. Where a cut falls hangs on what stands there, not on how much comes
    before: an insertion changes the groups around it, and the others stay.
    """
    sizes = [0, *accumulate(size(item) for item in items)]
    hashes = [hashlib.sha256(text(item).encode("utf-8", "surrogatepass")).digest() for item in items]
    groups: list[Sequence[T]] = []
    open_rows = [(0, len(items))]
    while open_rows:
        start, end = open_rows.pop()
        if sizes[end] - sizes[start] <= MOST or end - start < 2:
            groups += [items[start:end]] if end > start else []
            continue
        places = [
            place
            for place in range(start + 1, end)
            if sizes[place] - sizes[start] >= LEAST and sizes[end] - sizes[place] >= LEAST
        ]
        middle = (sizes[start] + sizes[end]) / 2
        cut = (
            min(places, key=hashes.__getitem__)
            if places
            else min(range(start + 1, end), key=lambda place: abs(sizes[place] - middle))
        )
        open_rows += [(cut, end), (start, cut)]
    return groups
