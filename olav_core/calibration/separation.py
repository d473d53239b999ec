"""How far true answers and noise lie apart under one measure, and which threshold that speaks for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import field, frozen

#: Off-topic questions that a gate may let through, and answers that it must keep, to be worth having.
MOST_INJECTED, LEAST_KEPT = 0.05, 0.75
#: Below so many answers or noises a share is a guess: at 20 its 95 % interval is .4 wide.
FEWEST = 20
BINS = 24
#: Normal quantile of a two-sided 95 % interval.
Z = 1.959964


@frozen(kw_only=True)
class Share:
    """A share of `n` trials with its 95 % Wilson interval."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, hits: int, n: int) -> Share:
        """Wilson (1927); of no trials: anything from 0 to 1."""
        if not n:
            return cls(value=0.0, low=0.0, high=1.0, n=0)
        p, z2 = hits / n, Z * Z
        centre, half = p + z2 / (2 * n), Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return cls(value=p, low=(centre - half) / (1 + z2 / n), high=(centre + half) / (1 + z2 / n), n=n)


@frozen(kw_only=True)
class Separation:
    """One gate of one category. Smaller measures are nearer; `inf`: the memory did not reach the gate.

    `hits`: of each question's best answer. `off_topic`: of the nearest memory to each off-topic question.
    `crossed`: of the nearest memory that is no answer to a question about something else. `threshold`: the
    gate's `max` now.
    """

    category: str
    gate: str
    threshold: float
    hits: Sequence[float] = field(repr=False)
    off_topic: Sequence[float] = field(repr=False)
    crossed: Sequence[float] = field(repr=False)

    def kept(self, threshold: float) -> Share:
        """Answers at or below `threshold`."""
        return _at_most(self.hits, threshold)

    def injected(self, threshold: float) -> Share:
        """Off-topic questions whose nearest memory is at or below `threshold`."""
        return _at_most(self.off_topic, threshold)

    @property
    def auc(self) -> float:
        """Probability that an answer lies nearer than an off-topic question's nearest memory; ties half."""
        return _auc(self.hits, self.off_topic)

    @property
    def auc_crossed(self) -> float:
        """The same against the nearest wrong memory to other questions: the hard ones."""
        return _auc(self.hits, self.crossed)

    @property
    def gap(self) -> float:
        """95th percentile of the answers to 5th of the off-topic ones; below 0 they overlap."""
        return _quantile(self.off_topic, 0.05) - _quantile(self.hits, 0.95)

    @property
    def recommended(self) -> float | None:
        """A threshold that injects on at most MOST_INJECTED of the off-topic questions and keeps at least
        LEAST_KEPT of the answers; the middle of a clean gap. None: no threshold does, don't gate."""
        if self.too_few:
            return None
        near = _quantile(self.off_topic, MOST_INJECTED)
        if math.isinf(near):  # off-topic questions bring nothing here, whatever the threshold
            return None
        far = _quantile(self.hits, 0.95)
        threshold = (near + far) / 2 if far < near else math.nextafter(near, -math.inf)
        return round_down(threshold) if self.kept(round_down(threshold)).value >= LEAST_KEPT else None

    @property
    def too_few(self) -> bool:
        """Whether there are fewer than FEWEST answers or off-topic questions."""
        return min(len(self.hits), len(self.off_topic)) < FEWEST

    @property
    def advice(self) -> str:
        """One sentence for a person."""
        if self.too_few:
            return f"too few to say: {len(self.hits)} answers, {FEWEST} are needed"
        if self.recommended is not None:
            kept, injected = self.kept(self.recommended), self.injected(self.recommended)
            return (
                f"max {self.recommended:g}: keeps {kept.value:.0%} ({kept.low:.0%}–{kept.high:.0%}), "
                f"injects on {injected.value:.0%} of off-topic questions"
            )
        if math.isinf(_quantile(self.off_topic, MOST_INJECTED)):
            return "off-topic questions bring nothing of it: leave the gate as it is"
        return "no clean gap: a gate this tight would lose too many answers; cap the category instead"

    def histogram(self) -> tuple[list[float], dict[str, list[int]]]:
        """Edges of BINS equal bins, and counts by kind; what did not reach the gate is in no bin."""
        kinds = {"hits": self.hits, "off_topic": self.off_topic, "crossed": self.crossed}
        finite = [value for values in kinds.values() for value in values if math.isfinite(value)]
        top = max(finite, default=1.0) or 1.0
        edges = [top * n / BINS for n in range(BINS + 1)]
        counts = {name: [0] * BINS for name in kinds}
        for name, values in kinds.items():
            for value in values:
                if math.isfinite(value):
                    counts[name][min(BINS - 1, max(0, int(value / top * BINS)))] += 1
        return edges, counts


def round_down(value: float) -> float:
    """Cut to three digits: a threshold that people can read, never one that lets more in."""
    return math.floor(value * 1000) / 1000


def _at_most(values: Sequence[float], threshold: float) -> Share:
    return Share.of(sum(value <= threshold for value in values), len(values))


def _quantile(values: Sequence[float], q: float) -> float:
    """The value below which at most a share `q` lies (no interpolation: `inf` may be among them)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else math.inf


def _auc(near: Sequence[float], far: Sequence[float]) -> float:
    """Mann-Whitney U over the product of the sizes; .5 when one side is empty."""
    if not near or not far:
        return 0.5
    wins = sum((a < b) + 0.5 * (a == b) for a in near for b in far)
    return wins / (len(near) * len(far))
