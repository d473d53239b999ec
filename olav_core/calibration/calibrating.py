"""Measure the store: ask every probe as a recall would, and see what reaches each category's gates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from olav_core.agents import DEFAULT_AGENT
from olav_core.calibration.probes import SEED, Probe, off_topic
from olav_core.calibration.separation import FEWEST, Separation
from olav_core.embedding.distance import canonical, squared
from olav_core.recall.tier import TIER_LIMITS
from olav_core.specs import DistanceScale, MeasuringGate
from olav_core.store.calibrations import Calibration

if TYPE_CHECKING:
    from olav_core.index.pool import Candidate, Pool
    from olav_core.recall.pipeline import RecallPipeline
    from olav_core.recall.query import Query
    from olav_core.store.store import Store
    from olav_core.writer import Progress

#: Rows that the noise of a scale is the nearest of; see DistanceScale.
POOL = 50
SLOTS = max(TIER_LIMITS.values())


@frozen(kw_only=True)
class CalibrationReport:
    """What was measured. `scale` None: too few rows or questions for one, the present one stays.

    `separations`: one per category and gate that compares a number. `thresholds`: category -> gate -> the
    `max` in use. Both on `scale`. `questions`: category -> questions asked about it.
    """

    fingerprint: str
    scale: DistanceScale | None
    separations: tuple[Separation, ...]
    thresholds: Mapping[str, Mapping[str, float]]
    questions: Mapping[str, int]
    off_topic: int
    rows: Mapping[str, int]

    def calibration(self) -> Calibration:
        """What `apply` writes: the scale, and each threshold that is recommended. On a new scale the other
        gates' thresholds too, so that nothing changes for them."""
        thresholds = {} if self.scale is None else {id: dict(gates) for id, gates in self.thresholds.items()}
        for each in self.separations:
            if each.recommended is not None:
                thresholds.setdefault(each.category, {})[each.gate] = each.recommended
        return Calibration(
            fingerprint=self.fingerprint, scale=self.scale, thresholds=thresholds, rows=self.rows
        )


def calibrate(
    pipeline: RecallPipeline,
    store: Store,
    questions: Mapping[str, Sequence[Probe]],
    *,
    on_progress: Progress | None = None,
) -> CalibrationReport:
    """Measure scale and gates with `questions` (by category of the answer) and the shipped off-topic ones.

    Off-topic questions are asked with every scope in sight, the worst case. Twice through all of them: the
    gates are measured on the scale that the first pass finds. Raises EmbedderError.
    """
    counts: dict[str, int] = defaultdict(int)
    scopes = {"global"}
    for (category, scope), rows in store.counts().items():
        counts[category] += rows
        scopes.add(scope)
    noise = [Probe(query=text, scopes=tuple(sorted(scopes))) for text in off_topic()]
    asked = [probe for probes in questions.values() for probe in probes]
    total, done = 2 * (len(asked) + len(noise)), 0

    def step() -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(done, total)

    scale = _scale(pipeline, asked, noise, step)
    measures = _Measures(evolve(pipeline, scale=scale or pipeline.scale), _moved(pipeline.scale, scale))
    for category, probes in questions.items():
        for probe in probes:
            measures.ask(probe, category)
            step()
    for probe in noise:
        measures.ask(probe, None)
        step()
    return CalibrationReport(
        fingerprint=store.fingerprint,
        scale=scale,
        thresholds=dict(measures.thresholds),
        separations=measures.separations(),
        questions={category: len(probes) for category, probes in questions.items()},
        off_topic=len(noise),
        rows=dict(counts),
    )


def _scale(
    pipeline: RecallPipeline, asked: Sequence[Probe], noise: Sequence[Probe], step: Callable[[], None]
) -> DistanceScale | None:
    """Anchors as DistanceScale defines them; None with too few rows or questions, or when they collapse."""
    import numpy as np

    random = np.random.default_rng(SEED)
    hits: list[float] = []
    nearest: list[float] = []
    for probe in asked:
        _, _, candidates = _asked(pipeline, probe)
        own = [
            each.distance for each in candidates if each.id in probe.relevant and each.distance is not None
        ]
        hits += [min(own)] if own else []
        step()
    for probe in noise:
        query, pool, _ = _asked(pipeline, probe)
        rows = np.flatnonzero(pool.eligible)
        vector = query.vector
        if len(rows) >= POOL and vector is not None:
            chosen = random.choice(rows, size=POOL, replace=False)
            nearest.append(float((2.0 - 2.0 * pool.cosine(vector)[chosen]).min()))
        step()
    if len(hits) < FEWEST or len(nearest) < FEWEST:
        return None
    hit, far = float(np.median(hits)), float(np.percentile(nearest, 5))
    if not 0 < hit < far:
        return None
    return DistanceScale(
        hit=round(hit, 4),
        noise=round(far, 4),
        pool=POOL,
        source=f"olav calibrate: {len(hits)} questions, {len(nearest)} off-topic",
    )


def _moved(before: DistanceScale | None, now: DistanceScale | None) -> Callable[[float], float]:
    """How a threshold on the scale `before` is told on the scale `now`."""
    if before is None or now is None:
        return lambda threshold: threshold
    return lambda threshold: round(canonical(squared(threshold, before), now), 3)


def _asked(pipeline: RecallPipeline, probe: Probe) -> tuple[Query, Pool, list[Candidate]]:
    return pipeline.candidates(probe.query, agent=DEFAULT_AGENT, scopes=probe.scopes, limit=SLOTS)


class _Measures:
    """Collects, by category and gate, what the gate would compare with its `max`."""

    def __init__(self, pipeline: RecallPipeline, moved: Callable[[float], float]) -> None:
        self._pipeline = pipeline
        chain = pipeline.chain
        self._gates: dict[tuple[str, str], MeasuringGate] = {
            (category, name): gate
            for gates in (chain.quick_gates, chain.record_gates)
            for category, by_name in gates.items()
            for name, gate in by_name.items()
            if isinstance(gate, MeasuringGate)
        }
        self.thresholds: dict[str, dict[str, float]] = defaultdict(dict)
        for (category, name), gate in self._gates.items():
            self.thresholds[category][name] = moved(gate.max)
        self._hits: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._off_topic: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._crossed: dict[tuple[str, str], list[float]] = defaultdict(list)

    def ask(self, probe: Probe, category: str | None) -> None:
        """`category`: that of the probe's answer, None when nothing answers it."""
        query, _, candidates = _asked(self._pipeline, probe)
        for key, gate in self._gates.items():
            mine = [each for each in candidates if each.category == key[0]]
            wrong = _nearest(gate, query, [each for each in mine if each.id not in probe.relevant])
            if category is None:
                self._off_topic[key].append(wrong)
                continue
            if not math.isinf(wrong):
                self._crossed[key].append(wrong)
            if category == key[0]:
                own = [each for each in mine if each.id in probe.relevant]
                self._hits[key].append(_nearest(gate, query, own))

    def separations(self) -> tuple[Separation, ...]:
        return tuple(
            Separation(
                category=category,
                gate=name,
                threshold=self.thresholds[category][name],
                hits=self._hits[category, name],
                off_topic=self._off_topic[category, name],
                crossed=self._crossed[category, name],
            )
            for category, name in self._gates
            if self._hits[category, name]
        )


def _nearest(gate: MeasuringGate, query: Query, candidates: Sequence[Candidate]) -> float:
    measured = (gate.measure(query, each) for each in candidates)
    return min((value for value in measured if value is not None), default=math.inf)
