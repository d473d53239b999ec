"""Measuring behaviour: every scenario n times without and with memory, judged, and compared in pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from olav_bench.behaviour.conversation import Conversation, converse
from olav_bench.behaviour.scenario import Scenario, memories_of
from olav_bench.configuration import Configuration
from olav_bench.running import filled, nothing
from olav_bench.statistics import interval, paired
from olav_core import Chat, Suite

Progress = Callable[[int, int], None]
ARMS = ("without", "with")
#: Measure -> what it is, over runs whose scenario asks for it.
MEANINGS: Mapping[str, str] = {
    "right_tool": "share of runs whose first call is the expected one, or that call none where none is due",
    "stalled": "share of runs that call no tool although one is expected",
    "convention_kept": "share of runs whose arguments and words keep the scenario's convention",
    "prompt_tokens": "tokens sent in a run",
    "reply_tokens": "tokens written in a run",
}


def measure(
    scenarios: Sequence[Scenario],
    chat: Chat,
    configuration: Configuration,
    *,
    runs: int,
    cache: Path | None = None,
    on_run: Progress = nothing,
) -> dict[str, Any]:
    """Return {"measures": measure -> arm -> {mean, low, high, n}, "differences", "scenarios": the runs}.

    A scenario's runs are averaged first, so that intervals and tests are over scenarios.
    """
    suite = Suite(
        id="behaviour", memories=memories_of(scenarios), queries=(), unit="memory", pool="the agent's scopes"
    )
    done, total = 0, len(scenarios) * len(ARMS) * runs
    told: list[dict[str, Any]] = []
    with filled(suite, configuration, cache=cache) as (memory, _):
        for scenario in scenarios:

            def with_memory(messages: Any, agent: str = scenario.agent) -> Any:
                return memory.enrich(messages, agent=agent, tier=configuration.timed)

            arms: dict[str, list[dict[str, Any]]] = {arm: [] for arm in ARMS}
            for arm, enrich in (("without", _as_is), ("with", with_memory)):
                for _run in range(runs):
                    arms[arm].append(_judged(scenario, converse(chat, scenario, enrich)))
                    done += 1
                    on_run(done, total)
            told.append({"id": scenario.id, "lang": scenario.lang, "arms": arms})
    return {"measures": _measures(told), "differences": _differences(told), "scenarios": told}


def _as_is(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(message) for message in messages]


def _judged(scenario: Scenario, spoken: Conversation) -> dict[str, Any]:
    expect = scenario.expect
    return {
        "right_tool": expect.right_tool(spoken.calls),
        "stalled": expect.stalled(spoken.calls),
        "convention_kept": expect.kept(spoken.calls, spoken.text),
        "prompt_tokens": spoken.prompt_tokens,
        "reply_tokens": spoken.reply_tokens,
        "tokens_estimated": spoken.estimated,
        "calls": [{"name": call.name, "arguments": call.raw} for call in spoken.calls],
        "text": spoken.text,
    }


def _mean(told: Mapping[str, Any], arm: str, name: str) -> float | None:
    values = [float(run[name]) for run in told["arms"][arm] if run[name] is not None]
    return sum(values) / len(values) if values else None


def _pairs(told: Sequence[Mapping[str, Any]], name: str) -> list[tuple[float, float]]:
    """Return (without, with) of every scenario that the measure applies to."""
    both = [(_mean(each, "without", name), _mean(each, "with", name)) for each in told]
    return [(before, after) for before, after in both if before is not None and after is not None]


def _measures(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in MEANINGS:
        pairs = _pairs(told, name)
        found[name] = {
            arm: {"n": len(pairs), **interval([pair[place] for pair in pairs])} if pairs else None
            for place, arm in enumerate(ARMS)
        }
    return found


def _differences(told: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for name in MEANINGS:
        pairs = _pairs(told, name)
        if pairs:
            before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            found.append({"measure": name, "n": len(pairs), **paired(before, after)})
    return found
