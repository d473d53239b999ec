"""Scenarios: an agent's turns, its tools, what it should do, and the memories that tell it so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from olav_bench.behaviour.expectation import Expectation, read_expectation
from olav_bench.fields import Faults, Row
from olav_bench.reading import read_lines
from olav_core import Draft, Suite, SuiteQuery, build_registry

SHIPPED = Path(__file__).with_name("scenarios.jsonl")
FIELDS = ("id", "lang", "agent", "system", "turns", "tools", "results", "memories", "needs", "expect")
_MEMORY_FIELDS = ("id", "text", "category", "scope", "origin", "metadata", "tags", "lang")
_TOOL_FIELDS = ("name", "description", "parameters")
_SYSTEM = "You are an operations agent. Use the tools that you are given; answer in the user's language."


@frozen(kw_only=True)
class Scenario:
    """One scenario. `turns` are the user's words in order; what is expected is judged after the last one.
    `needs`: ids of the memories without which the model cannot know."""

    id: str
    lang: str
    agent: str
    system: str
    turns: tuple[str, ...]
    tools: tuple[Mapping[str, Any], ...]
    results: Mapping[str, str]
    memories: Mapping[str, Draft]
    needs: tuple[str, ...]
    expect: Expectation


def read(paths: Sequence[Path]) -> list[Scenario]:
    """Return the scenarios of the files, or the shipped ones; raises RecordError naming file, line, field."""
    faults = Faults()
    categories = set(build_registry().categories)
    found: dict[str, Scenario] = {}
    for path in paths or [SHIPPED]:
        for number, row in read_lines(path, faults):
            where = f"{path}:{number}"
            scenario = _scenario(Row(row, where, FIELDS, faults), categories)
            if scenario.id and scenario.id in found:
                faults.add(where, f"id {scenario.id!r} stands there twice.")
            found[scenario.id] = scenario
        if not found and not faults.lines:
            faults.add(str(path), "there is no scenario in it.")
    faults.check()
    return list(found.values())


def load(paths: Sequence[Path]) -> Suite:
    """Return the scenarios as a suite of recall: is the needed memory found for the last turn?"""
    scenarios = read(paths)
    return Suite(
        id="behaviour",
        memories=memories_of(scenarios),
        queries=tuple(
            SuiteQuery(
                qid=scenario.id,
                query=scenario.turns[-1],
                relevant=frozenset(f"{scenario.id}/{key}" for key in scenario.needs),
                agent=scenario.agent,
                lang=scenario.lang,
            )
            for scenario in scenarios
        ),
        unit="memory",
        pool="the agent's scopes",
    )


def memories_of(scenarios: Sequence[Scenario]) -> dict[str, Draft]:
    """Return all memories by `scenario/id`: every scenario is asked amid the memories of all."""
    return {f"{each.id}/{key}": draft for each in scenarios for key, draft in each.memories.items()}


def _scenario(row: Row, categories: set[str]) -> Scenario:
    memories = {}
    for place, given in enumerate(_objects(row, "memories")):
        inner = Row(given, f"{row.where}: memories[{place}]", _MEMORY_FIELDS, row.faults)
        memories[inner.identifier("id")] = Draft(
            text=inner.needed("text"),
            category=inner.choice("category", categories, "fact"),
            scope=inner.text("scope") or None,
            origin=inner.text("origin", "user"),
            metadata=inner.mapping("metadata"),
            tags=inner.texts("tags"),
        )
    tools = tuple(_tool(row, given, place) for place, given in enumerate(_objects(row, "tools")))
    turns, needs = row.texts("turns"), row.texts("needs")
    if not turns or not all(turn.strip() for turn in turns):
        row.faults.add(row.where, "'turns' needs at least one turn of the user, none blank.")
    for key in needs:
        if key not in memories:
            row.faults.add(row.where, f"'needs' names {key!r}, which is no id in 'memories'.")
    return Scenario(
        id=row.identifier("id"),
        lang=row.text("lang"),
        agent=row.text("agent", "core"),
        system=row.text("system", _SYSTEM),
        turns=turns or (" ",),
        tools=tools,
        results={name: _result(text) for name, text in row.mapping("results").items()},
        memories=memories,
        needs=needs,
        expect=read_expectation(row, [tool["function"]["name"] for tool in tools]),
    )


def _tool(row: Row, given: Mapping[str, Any], place: int) -> Mapping[str, Any]:
    inner = Row(given, f"{row.where}: tools[{place}]", _TOOL_FIELDS, row.faults)
    parameters = inner.mapping("parameters") or {"type": "object", "properties": {}}
    function = {"name": inner.needed("name"), "description": inner.text("description")}
    return {"type": "function", "function": function | {"parameters": parameters}}


def _objects(row: Row, name: str) -> list[dict[str, Any]]:
    value = row.row.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        row.faults.add(row.where, f"{name!r} is not a list of objects.")
        return []
    return value


def _result(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
