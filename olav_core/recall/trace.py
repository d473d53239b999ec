"""The trace of a recall: what became of every candidate, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, overload

from attrs import asdict, frozen

from olav_core.index.candidate import Candidate
from olav_core.index.candidates import Candidates
from olav_core.recall.decisions import Decisions

Decision = Literal["injected", "gate", "floor", "cap", "duplicate", "budget", "outranked", "gone"]


@frozen(kw_only=True)
class CandidateTrace:
    """Why one candidate was, or was not, injected. Ranks count from 1; None: the leg did not find it."""

    id: str
    category: str
    scope: str
    leg_ranks: Mapping[str, int | None]
    leg_scores: Mapping[str, float]
    fused: float
    boost: float
    score: float
    distance: float | None
    canonical_distance: float | None
    decision: Decision
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Trace(Sequence[CandidateTrace]):
    """The candidates' traces, best first, as a tuple that is made when it is first looked into: most recalls
    are never explained, and making it costs as much as choosing.

    The candidates must not change any more.
    """

    def __init__(self, candidates: Candidates, decisions: Decisions) -> None:
        self._candidates: Candidates | None = candidates
        self._decisions = decisions
        self._made: tuple[CandidateTrace, ...] = ()
        self._length = len(candidates)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> CandidateTrace: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CandidateTrace, ...]: ...
    def __getitem__(self, index: int | slice) -> CandidateTrace | tuple[CandidateTrace, ...]:
        return self._traces()[index]

    def __iter__(self) -> Iterator[CandidateTrace]:
        return iter(self._traces())

    def __eq__(self, other: object) -> bool:
        return self._traces() == (other._traces() if isinstance(other, Trace) else other)

    def __hash__(self) -> int:
        return hash(self._traces())

    def __repr__(self) -> str:
        return repr(self._traces())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self._traces()),)

    def _traces(self) -> tuple[CandidateTrace, ...]:
        candidates = self._candidates
        if candidates is not None:
            self._made = tuple(self._trace(candidate) for candidate in candidates)
            self._candidates = None
        return self._made

    def _trace(self, candidate: Candidate) -> CandidateTrace:
        decision, reason = self._decisions.of(candidate.row)
        return CandidateTrace(
            id=candidate.id,
            category=candidate.category,
            scope=candidate.scope,
            leg_ranks=candidate.leg_ranks,
            leg_scores=candidate.leg_scores,
            fused=candidate.fused,
            boost=candidate.boost,
            score=candidate.score,
            distance=candidate.distance,
            canonical_distance=candidate.canonical_distance,
            decision=decision,  # type: ignore[arg-type]
            reason=reason,
        )
