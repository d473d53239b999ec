"""How processor time grows with the input. Nothing a test asserts may hang on how busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Below it, seconds, a clock's steps and caches decide.
LEAST = 1e-4


def growth(work: Callable[[int], object], small: int, large: int, *, most: float) -> float:
    """Return how many times longer `work(large)` takes this thread than `work(small)`, by the best of each.

    At least three tries; up to twelve while the ratio is above `most`.
    """
    best = {small: float("inf"), large: float("inf")}
    for tried in range(12):
        for size in best:
            best[size] = min(best[size], seconds(work, size))
        if tried >= 2 and best[large] <= most * max(best[small], LEAST):
            break
    return best[large] / max(best[small], LEAST)


def seconds(work: Callable[[int], object], size: int) -> float:
    """Return the processor time of this thread that `work(size)` takes."""
    begun = time.thread_time()
    work(size)
    return time.thread_time() - begun
