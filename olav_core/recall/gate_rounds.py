"""Gate rounds: the gates of all categories, ordered so that each is called once for many candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from attrs import frozen

from olav_core.specs import ArrayGate, Gate

if TYPE_CHECKING:
    from olav_core.index.candidates import Candidates
    from olav_core.recall.query import Query
    from olav_core.specs import Verdicts


@frozen
class SharedGate:
    """One gate and the categories that it judges; `decide_all` is None when it decides one by one."""

    id: str
    gate: Gate
    categories: frozenset[str]
    decide_all: Callable[[Query, Candidates], Verdicts] | None


GateRounds = Sequence[Sequence[SharedGate]]


def gate_rounds(gates: Mapping[str, Mapping[str, Gate]]) -> GateRounds:
    """Return the gates of category -> gate id -> gate in rounds: the n-th has every category's n-th gate, so
    that each category meets its own in their order, and a gate that several share comes once."""
    per_category = ([(category, *use) for use in uses.items()] for category, uses in gates.items())
    return tuple(_shared(filter(None, uses)) for uses in zip_longest(*per_category))


def _shared(uses: Iterable[tuple[str, str, Gate]]) -> tuple[SharedGate, ...]:
    by_gate: dict[tuple[str, int], tuple[Gate, set[str]]] = {}
    for category, name, gate in uses:
        by_gate.setdefault((name, id(gate)), (gate, set()))[1].add(category)
    return tuple(
        SharedGate(name, gate, frozenset(names), gate.decide_all if isinstance(gate, ArrayGate) else None)
        for (name, _), (gate, names) in by_gate.items()
    )
