"""Asking one query of a suite: through `Memory.recall` and `Memory.search`, as agents do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from olav_bench.answer import Answer, Injection
from olav_bench.configuration import Configuration
from olav_core import SuiteQuery

if TYPE_CHECKING:
    from olav_core import CandidateTrace, Memory, Recall

#: Quotas reserve slots from this K on; docs/architecture.md, "select".
QUOTAS_FROM = 3
#: Decisions on candidates that passed gates and floor and could have had a slot.
_WANTED_A_SLOT = ("outranked", "budget")
_UNDECIDED_BY_GATES = ("gone",)
#: Store id -> suite ids: two memories of a suite may be one row of the store.
SuiteIds = Mapping[str, tuple[str, ...]]


def ask(memory: Memory, query: SuiteQuery, suite_ids: SuiteIds, configuration: Configuration) -> Answer:
    """Return the answer: each tier's recall, the timed one first, then the ranking."""
    scopes = query.scopes or scopes_of(memory, query)
    where: dict[str, Any] = {"agent": query.agent, "scopes": scopes, "category": configuration.category}
    order = dict.fromkeys((configuration.timed, *configuration.tiers))
    recalls = {tier: memory.recall(query.query, tier=tier, log=False, **where) for tier in order}
    timed = recalls[configuration.timed]
    found = memory.search(query.query, limit=configuration.depth, **where)
    seen = [item for recall in (found, *recalls.values()) for item in recall.items]
    strangers = {key for item in seen if item.scope not in scopes for key in suite_ids.get(item.id, ())}
    came_up = {key for item in seen for key in suite_ids.get(item.id, ())}
    ranked = [(key, item.score) for item in found.items for key in suite_ids.get(item.id, ())]
    return Answer(
        qid=query.qid,
        ranked=tuple(key for key, _ in ranked),
        scores=tuple(round(score, 6) for _, score in ranked),
        injected={tier: _injection(memory, recalls[tier], query, suite_ids) for tier in configuration.tiers},
        leaks=tuple(sorted(strangers | (came_up & query.forbidden))),
        timings_ms=timed.timings_ms,
        degraded=tuple(dict.fromkeys((*timed.degraded, *found.degraded))),
    )


def scopes_of(memory: Memory, query: SuiteQuery) -> tuple[str, ...]:
    """Return the scopes that the query's agent recalls from, in this workspace and with the query's teams."""
    teams = (team if team.startswith("team:") else f"team:{team}" for team in query.teams)
    return tuple(dict.fromkeys((*memory.scopes_of(query.agent), *teams)))


def _injection(memory: Memory, recall: Recall, query: SuiteQuery, suite_ids: SuiteIds) -> Injection:
    def keys(id: str) -> tuple[str, ...]:
        return suite_ids.get(id, ())

    decided: dict[str, CandidateTrace] = {key: trace for trace in recall.trace for key in keys(trace.id)}
    gates: Counter[tuple[str, bool, bool]] = Counter()
    for trace in recall.trace:
        spec = memory.categories.get(trace.category)
        if spec is not None and spec.gates and trace.decision not in _UNDECIDED_BY_GATES:
            relevant = bool(query.relevant.intersection(keys(trace.id)))
            gates[trace.category, relevant, trace.decision != "gate"] += 1
    return Injection(
        ids=tuple(keys(item.id)[0] for item in recall.items if keys(item.id)),
        categories=tuple(item.category for item in recall.items),
        tokens=recall.tokens,
        limit=recall.limit,
        decisions={
            key: decided[key].decision if key in decided else "no candidate" for key in sorted(query.relevant)
        },
        gates=dict(gates),
        starved=_starved(memory, recall),
    )


def _starved(memory: Memory, recall: Recall) -> tuple[str, ...]:
    if recall.limit < QUOTAS_FROM:
        return ()
    injected = Counter(item.category for item in recall.items)
    waiting = Counter(trace.category for trace in recall.trace if trace.decision in _WANTED_A_SLOT)
    return tuple(
        sorted(
            name
            for name in waiting
            if name in memory.categories and injected[name] < memory.categories[name].quota
        )
    )
