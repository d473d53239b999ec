"""Reranker `subject`: a memory about, or by, somebody or something that the query names is lifted.

The subject of a memory is what its metadata calls so (`subject`, `speaker`, `device`, …), and the label that
opens its text, as in `Caroline: I went …` or `szv-core-a：苏州核心交换机`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, MemoryRecord, Options, Query

#: What naming the subject adds to a score of score_fusion (docs/quality.md).
WEIGHT = 0.2
DEPTH = 100
FIELDS = ("subject", "speaker", "author", "person", "device", "host", "site", "user", "customer")
#: A label that opens a text: up to 40 characters on one line, then a colon of either script.
_LABEL = re.compile(r"\s*([^\s:：][^:：\n]{0,39}?)\s*(?:：|:\s)")
_WORD = re.compile(r"[A-Za-z0-9]")


class Subject:
    """Option `weight`. A name counts as a whole word, whatever its case; one of fewer than two characters
    never does."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        asked = query.text.casefold()
        known: dict[str, bool] = {}

        def named(name: str) -> bool:
            if name not in known:
                known[name] = _stands_in(name, asked)
            return known[name]

        return [
            candidate.score + self.weight * any(map(named, _subjects(candidate.record)))
            for candidate in candidates
        ]


def _subjects(record: MemoryRecord) -> Iterator[str]:
    for field in FIELDS:
        value = record.metadata.get(field)
        if isinstance(value, str):
            yield value.casefold().strip()
    if label := _LABEL.match(record.text):
        yield label[1].casefold()


def _stands_in(name: str, text: str) -> bool:
    if len(name) < 2:
        return False
    before = r"(?<![a-z0-9_])" if _WORD.match(name[0]) else ""
    after = r"(?![a-z0-9_])" if _WORD.match(name[-1]) else ""
    return re.search(before + re.escape(name) + after, text) is not None


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="subject",
            stage="rerank",
            purpose="Lift memories about somebody or something that the query names",
            factory=Subject,
            priority=30,
            depth=DEPTH,
        )
    ]
