"""Reranker `neighbour`: a passage or a turn is lifted by what stands right before and after it.

The answer to a question often stands beside the sentence that repeats the question's words. Passages change
places among themselves: the best of a category keeps the best score it had, so that a long document does not
crowd out guides.
"""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, MemoryRecord, Options, Query

#: Shares of the better neighbour's score that count beside one's own: of the next ones, and of those two
#: places away (docs/quality.md).
WEIGHT = 0.3
SECOND = 0.2
DEPTH = 100


class Neighbour:
    """Options `weight` and `second`. What a neighbour counts is how far it stands above the lowest of the
    candidates, so that one that is no candidate counts as the lowest: a good passage between bad ones would
    else fall behind a middling pair. Neighbours are passages of one source in one scope: those whose `anchor`
    a passage names as `previous` or `next`, or, without anchors, those whose `chunk` is one less or more."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))
        self.second = float(options.get("second", SECOND))

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        del query
        spots = [_spot(candidate.record) for candidate in candidates]
        placed = {spot.place: n for n, spot in enumerate(spots) if spot is not None}
        found = [candidate.score for candidate in candidates]
        floor = min(found, default=0.0)
        above = [score - floor for score in found]
        lifted = {n: found[n] + self._lift(n, spots, placed, above) for n in placed.values()}
        for category in dict.fromkeys(candidates[n].category for n in lifted):
            mine = [n for n in lifted if candidates[n].category == category]
            best, top = max(candidates[n].score for n in mine), max(lifted[n] for n in mine)
            for n in mine:
                found[n] = lifted[n] * best / top if best > 0 else found[n]
        return found

    def _lift(
        self,
        n: int,
        spots: Sequence[_Spot | None],
        placed: Mapping[Hashable, int],
        above: Sequence[float],
    ) -> float:
        spot = spots[n]
        if spot is None:
            return 0.0
        next_ones = [placed[place] for place in spot.beside if place in placed]
        around = [*spot.second]
        for each in next_ones:
            around += beside.beside if (beside := spots[each]) is not None else ()
        second = [placed[place] for place in around if place in placed and placed[place] != n]
        return self.weight * max((above[each] for each in next_ones), default=0.0) + self.second * max(
            (above[each] for each in second), default=0.0
        )


class _Spot(NamedTuple):
    """Where a passage stands, and the places beside it and, where they are known at once, the second ones."""

    place: Hashable
    beside: tuple[Hashable, ...]
    second: tuple[Hashable, ...]


def _spot(record: MemoryRecord) -> _Spot | None:
    data = record.metadata
    name, anchor, chunk = data.get("source"), data.get("anchor"), data.get("chunk")
    if not name:
        return None
    folder = str(data.get("directory", ""))
    source = record.category, record.scope, posixpath.normpath(posixpath.join(folder, str(name)))
    if anchor:
        beside = tuple((source, each) for each in (data.get("previous"), data.get("next")) if each)
        return _Spot((source, anchor), beside, ())
    if isinstance(chunk, int):
        beside, second = (
            ((source, chunk - 1), (source, chunk + 1)),
            ((source, chunk - 2), (source, chunk + 2)),
        )
        return _Spot((source, chunk), beside, second)
    return None


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="neighbour",
            stage="rerank",
            purpose="Lift passages and turns beside ones that match",
            factory=Neighbour,
            priority=20,
            depth=DEPTH,
        )
    ]
