"""Reranker `neighbour`: a passage or a turn is lifted by what stands right before and after it.

The answer to a question often stands beside the sentence that repeats the question's words. Passages change
places among themselves: the best of a category keeps the best score it had, so that a long document does not
crowd out guides.
"""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, MemoryRecord, Options, Query

#: Shares of the better neighbour's score that count beside one's own: of the next ones, and of those two
#: places away (docs/quality.md).
WEIGHT = 0.3
SECOND = 0.2
DEPTH = 100


class Neighbour:
    """Options `weight` and `second`. Neighbours are passages of one source in one scope: those whose `anchor`
    a passage names as `previous` or `next`, or, without anchors, those whose `chunk` is one less or more."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))
        self.second = float(options.get("second", SECOND))

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        del query
        placed = {
            place: candidate for candidate in candidates if (place := _place(candidate.record)) is not None
        }
        found = [candidate.score for candidate in candidates]
        lifted = {id(each): each.score + self._lift(each, placed) for each in placed.values()}
        for category in dict.fromkeys(each.category for each in placed.values()):
            mine = [
                n for n, each in enumerate(candidates) if id(each) in lifted and each.category == category
            ]
            best = max(found[n] for n in mine)
            top = max(lifted[id(candidates[n])] for n in mine)
            for n in mine:
                found[n] = lifted[id(candidates[n])] * best / top if best > 0 else found[n]
        return found

    def _lift(self, candidate: Candidate, placed: Mapping[Hashable, Candidate]) -> float:
        next_ones = [placed[place] for place in _beside(candidate.record) if place in placed]
        second = {
            place: placed[place]
            for place in (
                *_beside(candidate.record, distance=2),
                *(place for each in next_ones for place in _beside(each.record)),
            )
            if place in placed and placed[place] is not candidate
        }
        return self.weight * _best(next_ones) + self.second * _best(second.values())


def _best(candidates: Iterable[Candidate]) -> float:
    return max([0.0, *(candidate.score for candidate in candidates)])


def _source(record: MemoryRecord) -> tuple[Hashable, ...] | None:
    source = record.metadata.get("source")
    if not source:
        return None
    folder = str(record.metadata.get("directory", ""))
    return record.category, record.scope, posixpath.normpath(posixpath.join(folder, str(source)))


def _place(record: MemoryRecord) -> Hashable | None:
    source = _source(record)
    return source and (source, record.metadata.get("anchor") or record.metadata.get("chunk"))


def _beside(record: MemoryRecord, distance: int = 1) -> Iterator[Hashable]:
    """Return where the neighbours of a record stand; an anchor names the next ones only."""
    source, data = _source(record), record.metadata
    if source is None:
        return
    if data.get("anchor"):
        yield from (
            (source, anchor)
            for anchor in (data.get("previous"), data.get("next"))
            if anchor and distance == 1
        )
    elif isinstance(data.get("chunk"), int):
        yield from ((source, data["chunk"] - distance), (source, data["chunk"] + distance))


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
