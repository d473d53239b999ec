"""What the system answered one query: the ranking, what each tier injected, how long it took."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen


@frozen(kw_only=True)
class Injection:
    """What one tier injected for one query: suite ids in slot order and their categories, the block's tokens,
    and the decision on every relevant memory. `limit` is K. `gates`: candidates of gated categories, counted
    by (category, relevant, kept). `starved`: categories under their quota although a candidate of theirs had
    passed gates and floor and lost its slot to another category or to the budget."""

    ids: tuple[str, ...]
    categories: tuple[str, ...]
    tokens: int
    limit: int
    decisions: Mapping[str, str]
    gates: Mapping[tuple[str, bool, bool], int] = field(factory=dict)
    starved: tuple[str, ...] = ()


@frozen(kw_only=True)
class Answer:
    """What the system answered one query. `leaks`: ids that came up, forbidden or out of scope.
    `timings_ms`: the stages of the first recall of this query, its embedding included."""

    qid: str
    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    injected: Mapping[str, Injection]
    leaks: tuple[str, ...]
    timings_ms: Mapping[str, float]
    degraded: tuple[str, ...] = ()
