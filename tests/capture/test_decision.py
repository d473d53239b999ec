"""What a team decides in its configuration comes before what a name says."""

from __future__ import annotations

from typing import Any

import pytest

from olav_core import VerbMatcherSpec, build_registry, hookimpl
from olav_core.capture.decision import Decider
from olav_core.config import CaptureSettings


def decider(**settings: Any) -> Decider:
    return Decider(CaptureSettings(**settings), build_registry())


def test_marks_come_first() -> None:
    chosen = decider(tools={"frobnicate": True, "netops.push_config": False}, deny=("frob*",))
    assert chosen.decide("frobnicate", {}, "ok").captured
    assert not chosen.decide("netops.push_config", {}, "ok").captured
    assert chosen.decide("other.push_config", {}, "ok").captured
    assert not chosen.decide("create_user", {}, "ok", mark=False).captured
    assert chosen.decide("get_user", {}, "ok", mark=True).verb == "marked"


def test_a_mark_does_not_make_a_failure_a_success() -> None:
    assert not decider(tools={"frobnicate": True}).decide("frobnicate", {}, {"ok": False}).captured


@pytest.mark.parametrize("name", ["scratch_save", "mcp__x__scratch_save"])
def test_denied_names_and_patterns(name: str) -> None:
    assert not decider(deny=("scratch_*",)).decide(name, {}, "ok").captured
    assert decider(deny=("scratch",)).decide(name, {}, "ok").captured


def test_a_teams_verbs_in_both_languages() -> None:
    chosen = decider(verbs=("frobnicate", "割接"))
    assert chosen.decide("frobnicates_link", {}, "ok").verb == "frobnicate"
    assert chosen.decide("割接链路", {}, "ok").verb == "割接"
    assert not decider().decide("frobnicate_link", {}, "ok").captured


def test_memory_tools_are_never_captured() -> None:
    chosen = decider(tools={"olav_remember": True})
    assert not chosen.decide("mcp__olav__olav_remember", {}, "ok", mark=True).captured


@pytest.mark.parametrize("status", ["error", "failed", "interrupted", "rejected", "cancelled", "timeout"])
def test_a_bad_status_counts_whatever_the_text_says(status: str) -> None:
    assert not decider().decide("create_user", {}, "created", status=status).captured
    assert decider().decide("create_user", {}, "created", status="success").captured


def test_a_strangers_predicate_may_take_the_result_alone_or_the_tool_too() -> None:
    class One:
        @hookimpl
        def olav_register_verb_matchers(self) -> list[VerbMatcherSpec]:
            return [
                VerbMatcherSpec(
                    id="one",
                    purpose="p",
                    languages=("xx",),
                    match=lambda name: "mach" if name.startswith("mach") else None,
                    succeeded=lambda result: result != "kaputt",
                ),
                VerbMatcherSpec(
                    id="two",
                    purpose="p",
                    languages=(),
                    succeeded=lambda result, tool="": tool != "mach_nichts",
                ),
            ]

    chosen = Decider(CaptureSettings(), build_registry([One()]))
    assert chosen.decide("mach_was", {}, "gut").verb == "mach"
    assert not chosen.decide("mach_was", {}, "kaputt").captured
    assert not chosen.decide("mach_nichts", {}, "gut").captured
