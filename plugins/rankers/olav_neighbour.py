"""Reranker `neighbour`: a passage or a turn is lifted by what stands right before and after it.

The answer to a question often stands beside the sentence that repeats the question's words.
"""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, MemoryRecord, Options, Query

#: Share of the better neighbour's score that counts beside one's own (docs/quality.md).
WEIGHT = 0.2
DEPTH = 100


class Neighbour:
    """Option `weight`. Neighbours are passages of one source in one scope: those whose `anchor` a passage
    names as `previous` or `next`, or, without anchors, those whose `chunk` is one less or more."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        del query
        placed = {
            place: candidate.score
            for candidate in candidates
            if (place := _place(candidate.record)) is not None
        }
        return [
            candidate.score
            + self.weight
            * max((max(placed.get(each, 0.0), 0.0) for each in _beside(candidate.record)), default=0.0)
            for candidate in candidates
        ]


def _source(record: MemoryRecord) -> tuple[Hashable, ...] | None:
    source = record.metadata.get("source")
    if not source:
        return None
    folder = str(record.metadata.get("directory", ""))
    return record.category, record.scope, posixpath.normpath(posixpath.join(folder, str(source)))


def _place(record: MemoryRecord) -> Hashable | None:
    source = _source(record)
    return source and (source, record.metadata.get("anchor") or record.metadata.get("chunk"))


def _beside(record: MemoryRecord) -> Iterator[Hashable]:
    source, data = _source(record), record.metadata
    if source is None:
        return
    if data.get("anchor"):
        yield from ((source, anchor) for anchor in (data.get("previous"), data.get("next")) if anchor)
    elif isinstance(data.get("chunk"), int):
        yield from ((source, data["chunk"] - 1), (source, data["chunk"] + 1))


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
