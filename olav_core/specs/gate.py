"""A gate: what may drop a candidate, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from attrs import Factory, frozen

from olav_core.specs.options import Options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.index.candidates import Candidates
    from olav_core.index.pool import Candidate
    from olav_core.recall.query import Query


@frozen
class GateUse:
    """A gate that a category asks for, with the gate's options: `GateUse("distance", {"max": 0.65})`."""

    id: str
    options: Options = Factory(dict)


@frozen
class Verdict:
    """A gate's decision on one candidate, with its reason for the trace."""

    keep: bool
    reason: str


class Gate(Protocol):
    def decide(self, query: Query, candidate: Candidate) -> Verdict: ...


@runtime_checkable
class MeasuringGate(Protocol):
    """A gate that keeps what measures at most its option `max`: `olav calibrate` can find the `max` for it.

    `measure` returns a distance on the canonical scale, or None where the gate has nothing to compare.
    """

    max: float

    def decide(self, query: Query, candidate: Candidate) -> Verdict: ...

    def measure(self, query: Query, candidate: Candidate) -> float | None: ...


@frozen
class Verdicts:
    """A gate's decisions on many candidates: `keep` bool [m], and `reason(i)`, which is called for what was
    dropped if the trace is read. It must not need the candidates any more: hold the values it tells of."""

    keep: NDArray[np.bool_]
    reason: Callable[[int], str]


@runtime_checkable
class ArrayGate(Protocol):
    """A gate that decides on all candidates of its categories in one call, as `decide` would on each."""

    def decide(self, query: Query, candidate: Candidate) -> Verdict: ...

    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts: ...


@frozen(kw_only=True)
class GateSpec:
    """Drops candidates. `factory(options)` gets the options of the category's GateUse.

    `needs_record=False` for a gate that never looks at `candidate.record`: it runs before records are read.
    A gate that also offers `decide_all` (ArrayGate) is asked once per recall, not once per candidate.
    """

    id: str
    purpose: str
    factory: Callable[[Options], Gate]
    needs_record: bool = True
