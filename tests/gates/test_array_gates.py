"""Array gates decide on many candidates as on each, and a recall treats them and plain gates alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import olav_core
from olav_core import (
    ArrayGate,
    CategorySpec,
    DistanceScale,
    GateSpec,
    GateUse,
    Query,
    Verdict,
    Verdicts,
    build_registry,
    hookimpl,
)
from olav_core.host.discovery import find_refs
from olav_core.index.candidates import Candidates
from olav_core.testing import make_candidate

SCALE = DistanceScale(hit=1.4, noise=1.6, pool=50, source="a test")
BUILT_IN = ("distance", "evidence", "current", "on_intent", "active", "data_question")

distances = st.one_of(st.none(), st.floats(0.0, 4.0, width=32), st.sampled_from([0.5, 0.65]))


@st.composite
def candidates(draw: st.DrawFn) -> olav_core.Candidate:
    metadata = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "status": st.sampled_from(["active", "superseded", "resolved"]),
                "load": st.sampled_from(["on_intent", "recalled"]),
                "superseded_by": st.just("fact:1"),
            },
        )
    )
    made = make_candidate(
        metadata=metadata,
        distance=draw(distances),
        canonical_distance=draw(distances),
        keyword_strength=draw(st.sampled_from([0.0, 0.5])),
        confidence=draw(st.floats(0.0, 1.0)),
    )
    made.leg_scores = {"bm25": draw(st.floats(0.0, 1.0, width=32))} if draw(st.booleans()) else {}
    return made


@pytest.fixture(scope="module")
def gates() -> dict[str, Any]:
    registry = build_registry()
    return {name: registry.gate(name).factory({}) for name in BUILT_IN}


@pytest.mark.parametrize("name", BUILT_IN)
@given(
    made=st.lists(candidates(), min_size=1, max_size=6),
    scale=st.sampled_from([None, SCALE]),
    rows=st.sampled_from([0, 49, 50, 500]),
    text=st.sampled_from(
        ["怎么重启边界路由器", "how do I restart it", "上个月 orders 有多少", "orders per month"]
    ),
)
def test_deciding_on_all_is_deciding_on_each(
    gates: dict[str, Any], name: str, made: list[Any], scale: DistanceScale | None, rows: int, text: str
) -> None:
    gate = gates[name]
    assert isinstance(gate, ArrayGate)
    query = Query(text=text, agent="a", now=0.0, scale=scale, rows=rows)
    verdicts = gate.decide_all(query, Candidates.of(made))
    for place, candidate in enumerate(made):
        alone = gate.decide(query, candidate)
        assert bool(verdicts.keep[place]) is alone.keep
        if not alone.keep:
            assert verdicts.reason(place) == alone.reason


def _short(text: str) -> bool:
    return len(text) < 20


class Plain:
    """A stranger's gate, as gates were before there were array gates."""

    def __init__(self, options: Any) -> None:
        del options

    def decide(self, query: Query, candidate: Any) -> Verdict:
        return Verdict(_short(candidate.record.text), f"{len(candidate.record.text)} characters")


class Fast(Plain):
    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        lengths = [len(record.text) for record in candidates.records]
        return Verdicts(np.array(lengths) < 20, lambda i: f"{lengths[i]} characters")


class Failing(Plain):
    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        raise RuntimeError("no arrays today")


class OfOneValue(Plain):
    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        return Verdicts(np.array([True]), str)


class WithoutReason(Fast):
    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        return Verdicts(super().decide_all(query, candidates).keep, lambda i: {}[i])


def recalled(
    folder: Path, factory: Callable[[Any], Any]
) -> tuple[olav_core.Recall, dict[str, tuple[str, str]]]:
    class Plugin:
        @hookimpl
        def olav_register_gates(self) -> list[GateSpec]:
            return [GateSpec(id="short", purpose="Drop long notes", factory=factory)]

        @hookimpl
        def olav_register_categories(self) -> list[CategorySpec]:
            return [CategorySpec(id="note", title="Note", purpose="Notes", gates=(GateUse("short"),))]

    registry = build_registry([*find_refs(), Plugin()])
    with olav_core.init(folder, embedder="hashing", registry=registry) as memory:
        for text in ("router r1 边界", "router r2", "router r3 and a long tale 很长的故事，没有尽头"):
            memory.remember(text, category="note")
        found = memory.recall("router 边界", tier="large", log=False)
        return found, {trace.id: (trace.decision, trace.reason) for trace in found.trace}


def test_a_strangers_plain_gate_and_its_array_form_decide_alike(tmp_path: Path) -> None:
    plain, told = recalled(tmp_path / "plain", Plain)
    fast, told_fast = recalled(tmp_path / "fast", Fast)
    assert [item.id for item in plain.items] == [item.id for item in fast.items]
    assert len(plain.items) == 2
    assert told == told_fast
    assert [reason for decision, reason in told.values() if decision == "gate"] == ["short: 36 characters"]
    assert not plain.degraded
    assert not fast.degraded


@pytest.mark.parametrize(("factory", "words"), [(Failing, "no arrays today"), (OfOneValue, "must be bool")])
def test_an_array_gate_that_fails_is_asked_one_by_one_and_degrades(
    tmp_path: Path, factory: Callable[[Any], Any], words: str
) -> None:
    found, told = recalled(tmp_path, factory)
    assert len(found.items) == 2
    assert ("gate", "short: 36 characters") in told.values()
    assert any("gate short" in line and words in line for line in found.degraded)


def test_a_reason_that_fails_breaks_no_trace(tmp_path: Path) -> None:
    found, told = recalled(tmp_path, WithoutReason)
    assert len(found.items) == 2
    assert next(reason for decision, reason in told.values() if decision == "gate").startswith(
        "short: dropped"
    )
