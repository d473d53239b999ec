"""A benchmark suite: memories to store, and queries with the ids that answer them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from olav_core.specs import Draft


@frozen(kw_only=True)
class SuiteQuery:
    """One question. `relevant` answers it, `forbidden` must never come up; both hold ids of the suite's
    memories. No `relevant`: nothing in the store answers it. `scopes` None: those of `agent` and `teams`."""

    qid: str
    query: str
    relevant: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    agent: str = "core"
    teams: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    kind: str = ""
    lang: str = ""
    split: str = ""


@frozen(kw_only=True)
class Suite:
    """Memories by id and the queries about them. `unit` says what one memory is, `pool` among what a query
    searches: both stand in the name of every figure. `languages`: memory id -> language; by script where not
    given. `places`: memory id -> where it stands (`file:line`), for errors. `workspace`: a live workspace
    whose rows are the memories, under their own ids; a copy of them is measured, `memories` is then empty."""

    id: str
    memories: Mapping[str, Draft]
    queries: tuple[SuiteQuery, ...]
    unit: str
    pool: str
    languages: Mapping[str, str] = field(factory=dict)
    places: Mapping[str, str] = field(factory=dict)
    workspace: Path | None = None
