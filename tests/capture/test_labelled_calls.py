"""The whole decision on labelled calls: names, arguments, status and results together."""

from __future__ import annotations

import pytest
from labelled_calls import CALLS, FAILURES, READS, WRITES, Labelled

from olav_core import build_registry
from olav_core.capture.decision import Decider
from olav_core.config import CaptureSettings


@pytest.fixture(scope="module")
def decider() -> Decider:
    return Decider(CaptureSettings(), build_registry())


def wrong(decider: Decider, calls: list[Labelled]) -> list[str]:
    found = []
    for tool, args, result, status, captured in calls:
        decision = decider.decide(tool, args, result, status=status)
        if decision.captured != captured:
            found.append(f"{tool}: {decision.reason}")
    return found


def test_at_least_97_of_100_calls_are_told_right(decider: Decider) -> None:
    assert len(CALLS) >= 150
    faults = wrong(decider, CALLS)
    assert len(faults) <= 0.03 * len(CALLS), faults


@pytest.mark.parametrize("calls", [WRITES, READS, FAILURES], ids=["writes", "reads", "failures"])
def test_no_kind_of_call_is_left_behind(decider: Decider, calls: list[Labelled]) -> None:
    faults = wrong(decider, calls)
    assert len(faults) <= 0.05 * len(calls), faults


def test_every_decision_says_why(decider: Decider) -> None:
    for tool, args, result, status, captured in CALLS:
        decision = decider.decide(tool, args, result, status=status)
        assert decision.reason
        assert bool(decision.verb) or not captured
