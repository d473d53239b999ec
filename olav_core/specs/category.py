"""A category: a kind of memory and its rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta

from attrs import field, frozen

from olav_core.records import GLOBAL_SCOPE, ORIGINS, MemoryRecord
from olav_core.specs.gate import GateUse


def _text_of(record: MemoryRecord) -> str:
    return record.text


def _frozen_set(values: Iterable[str]) -> frozenset[str]:
    return frozenset(values)


@frozen(kw_only=True)
class CategorySpec:
    """A kind of memory and its rules.

    - `origins`: who may write it. `quota`: slots reserved for it when K >= 3. `cap`: the most that one
      recall injects (None: no limit). `gates`: what may drop a candidate.
    - `boosts`: ids of boost rankers that may lift it. `ttl`: life of a row; `half_life`: age at which
      recency counts half (both None: for ever).
    - `metadata`: an attrs class that `record.metadata` must structure into (None: any JSON object).
    - `dedupe_key(record)`: two writes with one key are one row. `embed_text(record)`: what is embedded and
      indexed. `render(record)`: what the model reads. `keywords(record)`: words that `keyword_boost` and
      the `on_intent` gate look for in the query. `questions(record)`: what a person would ask that it
      answers, for `olav calibrate`; without it the keywords are asked.
    - `claims(record)`: what it claims, topic -> value. A later memory of the same category and scope that
      gives a topic another value supersedes it; the metadata class then inherits from `Succession`.
    - `append_only=True`: a row that exists is never changed, and erased only with `purge`.
    - `recallable=False` keeps rows out of automatic injection. `global_scope=True` puts every row in scope
      `global` whatever the caller says, and leaves the scope out of its id.
    """

    id: str
    title: str
    purpose: str
    origins: frozenset[str] = field(default=frozenset(ORIGINS), converter=_frozen_set)
    quota: int = 0
    cap: int | None = None
    gates: tuple[GateUse, ...] = ()
    boosts: tuple[str, ...] = ()
    ttl: timedelta | None = None
    half_life: timedelta | None = None
    metadata: type | None = None
    dedupe_key: Callable[[MemoryRecord], str] = _text_of
    embed_text: Callable[[MemoryRecord], str] = _text_of
    render: Callable[[MemoryRecord], str] = _text_of
    keywords: Callable[[MemoryRecord], Sequence[str]] | None = None
    questions: Callable[[MemoryRecord], Sequence[str]] | None = None
    claims: Callable[[MemoryRecord], Mapping[str, str]] | None = None
    recallable: bool = True
    append_only: bool = False
    default_scope: str = GLOBAL_SCOPE
    global_scope: bool = False
