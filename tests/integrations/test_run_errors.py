"""A run that ends in an error leaves an audit row, and lessons can be learnt from it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from click.testing import CliRunner
from langchain.agents import create_agent as langchain_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.errors import GraphRecursionError
from olav_audit_trail import AuditMiddleware, RunErrors
from olav_deepagents import create_agent
from scripted_model import ScriptedModel, call

from olav_core import Memory
from olav_core.cli.main import main

ASK = "推送配置到 R1, password=hunter2-Zx81"


@tool
def show_version(device: str) -> str:
    """Show the version."""
    return "17.9"


class Down(ScriptedModel):
    """A model whose server is away."""

    def _generate(self, *args: Any, **options: Any) -> Any:
        raise ConnectionError("model server refused the connection, token=hunter2-Zx81")


def endless() -> ScriptedModel:
    return ScriptedModel(script=[call("show_version", device="R1") for _ in range(60)])


def rows(memory: Memory) -> list[dict[str, Any]]:
    return [
        dict(row.metadata) for row in memory.list(category="audit") if row.metadata["tool"] == "agent_run"
    ]


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream"])
def test_the_recursion_limit_is_told_once(memory: Memory, how: str) -> None:
    audit = AuditMiddleware(memory, agent="netops")
    agent = langchain_agent(endless(), tools=[show_version], middleware=[audit])
    config: Any = {
        "callbacks": audit.run_callbacks,
        "recursion_limit": 6,
        "configurable": {"thread_id": "t7"},
        "metadata": {"user_id": "ada"},
    }
    given = {"messages": [HumanMessage(ASK)]}
    ways = {
        "invoke": lambda: agent.invoke(given, config),
        "ainvoke": lambda: asyncio.run(agent.ainvoke(given, config)),
        "stream": lambda: list(agent.stream(given, config)),
    }
    with pytest.raises(GraphRecursionError):
        ways[how]()
    (row,) = rows(memory)
    assert row["error"].startswith("GraphRecursionError: Recursion limit of 6")
    assert (row["outcome"], row["agent"], row["user"], row["run"]) == ("error", "netops", "ada", "t7")
    assert "推送配置到 R1" in json.dumps(row["args"], ensure_ascii=False)
    assert "hunter2" not in json.dumps(row, ensure_ascii=False)


def test_a_model_error_of_a_deep_agent_is_told(memory: Memory) -> None:
    agent = create_agent(memory, Down(script=["x"]), agent="netops", use={"tool_audit": True})
    with pytest.raises(ConnectionError):
        agent.invoke({"messages": [HumanMessage(ASK)]})
    (row,) = rows(memory)
    assert row["error"].startswith("ConnectionError: model server refused")
    assert "hunter2" not in str(row)


def test_a_run_that_went_well_and_an_interrupt_leave_none(memory: Memory) -> None:
    errors = RunErrors(memory, agent="netops")
    agent = langchain_agent(ScriptedModel(script=["fine"]), tools=[])
    agent.invoke({"messages": [HumanMessage(ASK)]}, {"callbacks": [errors]})
    assert rows(memory) == []
    assert errors.failures == 0
    assert not errors._runs


def test_a_run_error_that_comes_again_becomes_a_reflection(memory: Memory) -> None:
    for thread in ("a", "b", "c"):
        audit = AuditMiddleware(memory, agent="netops")
        agent = langchain_agent(endless(), tools=[show_version], middleware=[audit])
        config: Any = {
            "callbacks": audit.run_callbacks,
            "recursion_limit": 6,
            "configurable": {"thread_id": thread},
        }
        with pytest.raises(GraphRecursionError):
            agent.invoke({"messages": [HumanMessage("推送配置到 R1")]}, config)
    root = str(memory.workspace.root)
    memory.close()
    done = CliRunner().invoke(main, ["learn", "reflections", "--workspace", root, "--json"])
    told = json.loads(done.stdout)
    assert any(item["tool"] == "agent_run" for item in told["reflections"]), told
