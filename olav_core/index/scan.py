"""The scan: a dot product of every resident row with the query."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray

T = TypeVar("T")

#: Matrix elements of one product. From 460,800 on OpenBLAS (interface/gemv.c) starts threads that wait for
#: one another: with a model on the same cores 6.6 ms instead of 0.2 ms at 10,000 x 384.
PART_ELEMENTS = 400_000
#: Elements above which helper threads take parts too (100,000 x 384 on two cores: 3.2 ms, alone 5.1 ms). The
#: scan waits for at most one part of each, so a helper that gets no core costs nothing.
SHARED_ELEMENTS = 8_000_000
MAX_THREADS = 4


def scan(blocks: Sequence[FloatArray], vector: FloatArray, out: FloatArray) -> None:
    """Write the dot products of the blocks' rows with `vector` float32 [d] to `out` float32 [rows]."""
    import numpy as np

    step = max(1, PART_ELEMENTS // max(len(vector), 1))
    parts: list[tuple[FloatArray, FloatArray]] = []
    done = 0
    for block in blocks:
        for first in range(0, len(block), step):
            rows = block[first : first + step]
            parts.append((rows, out[done : done + len(rows)]))
            done += len(rows)
    in_parts(lambda part: np.dot(part[0], vector, out=part[1]), parts, elements=done * len(vector))


def in_parts(work: Callable[[T], object], parts: Iterable[T], *, elements: int) -> None:
    """Do `work` on every part; with helper threads when there are more than SHARED_ELEMENTS."""
    waiting = deque(parts)

    def take() -> None:
        while waiting:
            try:
                part = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            work(part)

    helpers = _helpers(os.getpid()) if elements > SHARED_ELEMENTS else None
    others = [helpers.submit(take) for _ in range(_threads() - 1)] if helpers else []
    take()
    for other in others:
        if not other.cancel():
            other.result()


@cache
def _helpers(process: int) -> ThreadPoolExecutor | None:
    """Return the process's helper threads (a fork inherits none); None on one core."""
    del process
    return ThreadPoolExecutor(_threads() - 1, thread_name_prefix="olav-scan") if _threads() > 1 else None


@cache
def _threads() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MAX_THREADS)
