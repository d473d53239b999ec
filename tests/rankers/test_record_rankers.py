"""`neighbour`, `subject`, `prior`, `mmr` and `identifiers`: what lifts, what does not, in zh and en."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import olav_identifiers
import olav_mmr
import olav_neighbour
import olav_prior
import olav_subject
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from olav_core import build_registry
from olav_core.config import DEFAULT_RANKERS
from olav_core.testing import make_candidate, make_query, open_workspace, recall_state

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def turn(chunk: int, score: float, source: str = "session_1", **metadata: object):
    data = {"source": source, "chunk": chunk, **metadata}
    return make_candidate(f"turn {source} {chunk}", category="document", metadata=data, score=score)


# --- neighbour --------------------------------------------------------------------------------------


def test_a_turn_is_lifted_by_its_better_neighbour_only() -> None:
    candidates = [turn(4, 1.0), turn(5, 0.5), turn(6, 0.2), turn(9, 0.4), turn(5, 0.3, "session_2")]
    found = olav_neighbour.Neighbour({"weight": 0.5, "second": 0.1}).rerank(make_query("what?"), candidates)
    # A neighbour counts by what it stands above the lowest candidate, 0.2.
    lifted = [1.0 + 0.15 + 0.0, 0.5 + 0.4, 0.2 + 0.15 + 0.08, 0.4, 0.3]
    assert found == pytest.approx([score / 1.15 for score in lifted])


def test_a_turn_whose_neighbours_are_no_candidates_does_not_fall_behind_a_middling_pair() -> None:
    alone, pair, far = turn(4, 1.9), [turn(8, 1.6), turn(9, 1.6)], turn(20, 1.3)
    found = olav_neighbour.Neighbour({}).rerank(make_query("what?"), [alone, *pair, far])
    assert found.index(max(found)) == 0


def test_passages_know_their_neighbours_by_anchor() -> None:
    first = turn(0, 1.0, "手册.md", anchor="a", next="b")
    second = turn(0, 0.2, "手册.md", anchor="b", previous="a", next="c")
    third = turn(0, 0.1, "手册.md", anchor="c", previous="b")
    other = turn(0, 0.2, "other.md", anchor="b", previous="a")
    ranker = olav_neighbour.Neighbour({"weight": 0.5, "second": 0.1})
    found = ranker.rerank(make_query("审批"), [first, second, other, third])
    lifted = [1.0 + 0.05, 0.2 + 0.45, 0.2, 0.1 + 0.05 + 0.09]
    assert found == pytest.approx([score / 1.05 for score in lifted])


@given(
    st.lists(st.floats(-1, 2), min_size=1, max_size=12),
    st.lists(st.integers(0, 8), min_size=12, max_size=12),
    st.floats(-1, 2),
)
def test_passages_change_places_among_themselves_only(
    scores: list[float], places: list[int], guide: float
) -> None:
    """The best passage stays as far from a guide as it was, whatever stands around it."""
    candidates = [turn(place, score) for place, score in zip(places, scores, strict=False)]
    candidates.append(make_candidate("a guide", category="usage_guide", score=guide))
    *found, other = olav_neighbour.Neighbour({}).rerank(make_query("审批"), candidates)
    assert max(found) == pytest.approx(max(scores))
    assert other == guide


def test_what_has_no_source_has_no_neighbour() -> None:
    candidates = [make_candidate("a", score=0.5), make_candidate("b", score=-0.5)]
    assert olav_neighbour.Neighbour({}).rerank(make_query("x"), candidates) == [0.5, -0.5]


# --- subject ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "text", "metadata", "lifted"),
    [
        ("What did Caroline paint?", "Caroline: I painted a lake", {}, True),
        ("what did caroline paint?", "Melanie: Caroline painted a lake", {}, False),
        ("what did Carolinean artists paint?", "Caroline: I painted a lake", {}, False),
        ("szv-core-a 在哪个机柜", "szv-core-a：苏州核心交换机之一", {}, True),
        ("szv-core-ab 在哪个机柜", "szv-core-a：苏州核心交换机之一", {}, False),
        ("沈立群要什么周报", "沈立群：周报只要三个数", {}, True),
        ("rtm-edge-1 firmware", "loopback 10.60.255.1", {"subject": "rtm-edge-1"}, True),
        ("R1 在哪", "R1 is in Shanghai", {"device": "R1"}, True),
        ("the port at 10:30", "at 10:30 the port went down", {}, False),
        ("(a+b)* [x", "(a+b)*: a pattern", {}, True),
        ("", "Caroline: hello", {}, False),
        ("a", "a: b", {}, False),
    ],
)
def test_who_is_named_is_lifted(asked: str, text: str, metadata: dict[str, str], lifted: bool) -> None:
    (found,) = olav_subject.Subject({"weight": 0.3}).rerank(
        make_query(asked), [make_candidate(text, metadata=metadata, score=0.5)]
    )
    assert found == pytest.approx(0.8 if lifted else 0.5)


# --- prior ------------------------------------------------------------------------------------------


def priors(candidates, *, half_life: timedelta | None = timedelta(days=10), **options: float) -> list[float]:
    spec = evolve(build_registry().category("fact"), half_life=half_life)
    query = make_query("which?", now=NOW.timestamp(), categories={"fact": spec})
    return olav_prior.Prior(options).rerank(query, candidates)


def aged(days: float, **fields: object):
    return make_candidate("上次变更 change", timestamp=NOW - timedelta(days=days), **fields)


def test_a_memory_loses_half_of_the_share_in_a_half_life() -> None:
    found = priors([aged(0), aged(10), aged(20), aged(-5)], recency=0.4)
    assert found == pytest.approx([1.0, 0.8, 0.7, 1.0])


def test_without_a_half_life_age_does_not_count() -> None:
    assert priors([aged(1_000)], half_life=None) == [1.0]


def test_guides_never_age() -> None:
    assert priors([aged(1_000, origin="directive")]) == [1.0]


def test_confidence_counts_a_little_and_never_lifts_what_scores_below_zero() -> None:
    found = priors([aged(0, confidence=0.5), aged(0, confidence=0.0, score=-0.3)], confidence=0.2)
    assert found == pytest.approx([0.9, -0.3])


def test_the_half_life_of_the_configuration_decides_between_equals(tmp_path: Path) -> None:
    config = {
        "recall": {"rankers": [*DEFAULT_RANKERS, "prior"]},
        "categories": {"fact": {"half_life_days": 30}},
    }
    with open_workspace(tmp_path / "space", config=config) as memory:
        memory.remember("The mail relay is restarted with the console", timestamp="2020-01-05")
        memory.remember("The mail relay is restarted with the script", timestamp=datetime.now(UTC))
        found = memory.search("how is the mail relay restarted with")
        assert [item.text.split()[-1] for item in found.items] == ["script", "console"]
        assert found.items[1].score < 0.85 * found.items[0].score


# --- mmr --------------------------------------------------------------------------------------------


def test_what_resembles_a_chosen_memory_loses_by_its_cosine() -> None:
    one, same, other = (make_candidate(text) for text in ("a", "b", "c"))
    one._vector = np.array([1, 0], np.float32)
    same._vector = np.array([1, 0], np.float32)
    other._vector = np.array([0, -1], np.float32)
    mmr = olav_mmr.MaximalMarginalRelevance({"weight": 0.5})
    assert mmr.penalty(same, [one]) == pytest.approx(0.5)
    assert mmr.penalty(other, [one]) == 0.0
    assert mmr.penalty(one, []) == 0.0
    assert math.isfinite(mmr.penalty(same, [one, other]))


# --- identifiers ------------------------------------------------------------------------------------


def test_an_identifier_leads_to_those_beside_it(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "space") as memory:
        memory.remember("工单 NC-3318：rtm-edge-2 升级到 23.4R2-S1")
        memory.remember("rtm-edge-2 takes over in Rotterdam when its twin is down")
        memory.remember("The canteen opens at noon")
        state = recall_state(memory, "NC-3318 是哪台设备，在哪里")
        leg = olav_identifiers.IdentifierLeg({"weight": 1.0}).scores(state.query, state.pool)
        texts = {
            record.text: leg[row] for row, record in enumerate(state.pool.records(range(state.pool.size)))
        }
        assert texts["rtm-edge-2 takes over in Rotterdam when its twin is down"] > 0
        assert texts["The canteen opens at noon"] == 0
        plain = recall_state(memory, "when does the canteen open?")
        assert not olav_identifiers.IdentifierLeg({}).scores(plain.query, plain.pool).any()
