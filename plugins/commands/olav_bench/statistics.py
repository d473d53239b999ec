"""Statistics of figures: bootstrap intervals and the paired permutation test, repeatable by a fixed seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Resamples of the bootstrap and of the permutation test: the standard error of p = .05 is .005.
RESAMPLES = 2_000
SEED = 20261201
#: Resamples that are drawn at a time: an array of all would take gigabytes with many queries.
CHUNK = 200


def mean(values: Sequence[float]) -> float:
    """Return the mean rounded to four digits; 0 for none."""
    return round(sum(values) / len(values), 4) if values else 0.0


def interval(sample: Sequence[float]) -> dict[str, float]:
    """Return {mean, low, high}: percentile bootstrap of the mean over queries, 95%."""
    import numpy as np

    data = np.asarray(sample, dtype=np.float64)
    middle = round(float(data.mean()), 4) if len(data) else 0.0
    if len(data) < 2 or data.std() == 0:
        return {"mean": middle, "low": middle, "high": middle}
    low, high = np.percentile(_resampled(data), [2.5, 97.5])
    return {"mean": middle, "low": round(float(low), 4), "high": round(float(high), 4)}


def paired(before: Sequence[float], after: Sequence[float]) -> dict[str, float]:
    """Return the mean `difference` after - before over the same queries, its 95% bootstrap interval `low` and
    `high`, and `p` of the two-sided paired sign-flip permutation test."""
    import numpy as np

    difference = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    random = np.random.default_rng(SEED)
    reached = 0
    for start in range(0, RESAMPLES, CHUNK):
        size = (min(CHUNK, RESAMPLES - start), len(difference))
        flipped = np.abs((random.choice([-1.0, 1.0], size=size) * difference).mean(axis=1))
        reached += int((flipped >= abs(difference.mean()) - 1e-12).sum())
    found = interval(difference.tolist())
    return {
        "difference": found["mean"],
        "low": found["low"],
        "high": found["high"],
        "p": round((1 + reached) / (RESAMPLES + 1), 4),
    }


def holm(values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for their number, by Holm's step-down method."""
    order = sorted(range(len(values)), key=values.__getitem__)
    adjusted, highest = [0.0] * len(values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, values[index] * (len(values) - place)))
        adjusted[index] = round(highest, 4)
    return adjusted


def _resampled(data: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    random = np.random.default_rng(SEED)
    parts = [
        data[random.integers(0, len(data), (min(CHUNK, RESAMPLES - start), len(data)))].mean(axis=1)
        for start in range(0, RESAMPLES, CHUNK)
    ]
    return np.concatenate(parts)
