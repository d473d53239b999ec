"""Running a suite through the product's own write and recall paths."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve, field, frozen

import olav_core
from olav_core import RecordError, Settings, Suite, SuiteQuery

if TYPE_CHECKING:
    from olav_core import CandidateTrace, Memory, Recall

Progress = Callable[[int, int], None]


@frozen(kw_only=True)
class Configuration:
    """What one run measures. `rankers` empty: the default chain. `depth`: how deep rankings are kept."""

    embedder: str = "e5"
    embedder_options: Mapping[str, Any] = field(factory=dict)
    rankers: tuple[str, ...] = ()
    ranker_options: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    tiers: tuple[str, ...] = ("small", "medium", "large")
    category: str | None = None
    depth: int = 10

    @property
    def name(self) -> str:
        return "+".join((self.embedder, *self.rankers))


@frozen(kw_only=True)
class Injection:
    """What one tier injected for one query: suite ids in slot order, their categories, the block's tokens,
    and the decision on every relevant memory."""

    ids: tuple[str, ...]
    categories: tuple[str, ...]
    tokens: int
    decisions: Mapping[str, str]


@frozen(kw_only=True)
class Answer:
    """What the system answered one query. `leaks`: suite ids that came up, forbidden or out of scope."""

    qid: str
    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    injected: Mapping[str, Injection]
    leaks: tuple[str, ...]
    timings_ms: Mapping[str, float]
    degraded: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def cache_directory() -> Path:
    """Return where benchmark stores are kept between runs, below OLAV_CACHE_DIR or the user's cache."""
    base = os.environ.get("OLAV_CACHE_DIR")
    return Path(base or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "olav") / "bench"


def run(
    suite: Suite,
    configuration: Configuration,
    *,
    cache: Path | None = None,
    on_write: Progress = lambda done, total: None,
    on_query: Progress = lambda done, total: None,
) -> list[Answer]:
    """Store the suite's memories and ask its queries; one answer each, in order.

    The store is kept in `cache`, so texts are embedded once per embedder and an interrupted run goes on.
    Raises RecordError naming the first memory that the store refuses.
    """
    folder = (cache or cache_directory()) / _key(suite, configuration)
    if not (folder / ".olav" / "config.yaml").exists():
        olav_core.init(
            folder, embedder=configuration.embedder, options=configuration.embedder_options
        ).close()
    settings = Settings.load(folder / ".olav" / "config.yaml", {})
    recall = evolve(
        settings.recall,
        log=False,
        ranker_options=configuration.ranker_options,
        **({"rankers": configuration.rankers} if configuration.rankers else {}),
    )
    with olav_core.open(folder, settings=evolve(settings, recall=recall)) as memory:
        suite_ids = _store(memory, suite, on_write)
        memory.recall("warm up", log=False)
        answers = []
        for number, query in enumerate(suite.queries, 1):
            answers.append(_ask(memory, query, suite, suite_ids, configuration))
            on_query(number, len(suite.queries))
        return answers


def _store(memory: Memory, suite: Suite, on_write: Progress) -> dict[str, tuple[str, ...]]:
    """Return memory id -> suite ids: two memories of a suite may be one row of the store."""
    outcomes = memory.remember_many(suite.memories.values(), on_progress=on_write)
    suite_ids: dict[str, tuple[str, ...]] = {}
    for key, outcome in zip(suite.memories, outcomes, strict=True):
        if outcome.error is not None:
            raise RecordError(f"Memory {key!r} of suite {suite.id} is refused: {outcome.error}")
        suite_ids[outcome.id] = (*suite_ids.get(outcome.id, ()), key)
    return suite_ids


def _ask(
    memory: Memory,
    query: SuiteQuery,
    suite: Suite,
    suite_ids: Mapping[str, tuple[str, ...]],
    configuration: Configuration,
) -> Answer:
    teams = (team if team.startswith("team:") else f"team:{team}" for team in query.teams)
    scopes = query.scopes or (query.agent, *teams, "global")
    where: dict[str, Any] = {"agent": query.agent, "scopes": scopes, "category": configuration.category}
    found = memory.search(query.query, limit=configuration.depth, **where)
    recalls = {
        tier: memory.recall(query.query, tier=tier, log=False, **where) for tier in configuration.tiers
    }
    seen = [item for recall in (found, *recalls.values()) for item in recall.items]
    strangers = {key for item in seen if item.scope not in scopes for key in suite_ids.get(item.id, ())}
    came_up = {key for item in seen for key in suite_ids.get(item.id, ())}
    timed = recalls.get("large") or found
    ranked = [(suite_ids[item.id], item.score) for item in found.items if item.id in suite_ids]
    return Answer(
        qid=query.qid,
        ranked=tuple(key for keys, _ in ranked for key in keys),
        scores=tuple(score for keys, score in ranked for _ in keys),
        injected={tier: _injection(recall, query, suite_ids) for tier, recall in recalls.items()},
        leaks=tuple(sorted(strangers | (came_up & query.forbidden))),
        timings_ms=timed.timings_ms,
        degraded=found.degraded,
    )


def _injection(recall: Recall, query: SuiteQuery, suite_ids: Mapping[str, tuple[str, ...]]) -> Injection:
    def keys(id: str) -> tuple[str, ...]:
        return suite_ids.get(id, ())

    decided: dict[str, CandidateTrace] = {key: trace for trace in recall.trace for key in keys(trace.id)}
    return Injection(
        ids=tuple(keys(item.id)[0] for item in recall.items if keys(item.id)),
        categories=tuple(item.category for item in recall.items),
        tokens=recall.tokens,
        decisions={
            key: decided[key].decision if key in decided else "no candidate" for key in sorted(query.relevant)
        },
    )


def _key(suite: Suite, configuration: Configuration) -> str:
    digest = hashlib.sha256()
    options = json.dumps(dict(configuration.embedder_options), sort_keys=True, default=str)
    for part in (configuration.embedder, options, *map(repr, sorted(suite.memories.items()))):
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return f"{suite.id}-{configuration.embedder}-{digest.hexdigest()[:12]}"


def select_queries(
    suite: Suite, *, split: str | None, kind: str | None, limit: int | None, seed: int
) -> Suite:
    """Return the suite with fewer queries: of one split or kind, and at most `limit`, drawn by the hash of
    seed and qid, so that the same ones are drawn everywhere. A suite without splits is halved by hash."""

    def rank(query: SuiteQuery) -> str:
        return hashlib.sha256(f"{seed}:{query.qid}".encode()).hexdigest()

    def split_of(query: SuiteQuery) -> str:
        if query.split:
            return query.split
        return "dev" if int(hashlib.sha256(query.qid.encode()).hexdigest(), 16) % 2 == 0 else "test"

    chosen: Sequence[SuiteQuery] = [
        query
        for query in suite.queries
        if (split is None or split_of(query) == split) and (kind is None or query.kind == kind)
    ]
    if limit is not None and limit < len(chosen):
        drawn = {query.qid for query in sorted(chosen, key=rank)[:limit]}
        chosen = [query for query in chosen if query.qid in drawn]
    if not chosen:
        raise RecordError(f"Suite {suite.id} has no query of split {split!r} and kind {kind!r}.")
    return evolve(suite, queries=tuple(chosen))
