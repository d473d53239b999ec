"""The failed calls in an agent's audit trail become lessons, and its later successes close them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import ToolException, tool
from olav_audit_trail import AuditMiddleware
from olav_learn import audited_calls, learn_reflections, run_learning

from olav_core import Memory

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from scripted_model import ScriptedModel, call

WRONG, RIGHT = {"device": "core-sw-2", "mode": "exec"}, {"device": "core-sw-2", "mode": "config"}


def work(memory: Memory, *script: Any, broken: bool = True) -> None:
    """Run an agent with an audit trail; its tool fails in exec mode while it is `broken`."""

    @tool
    def push_config(device: str, mode: str) -> str:
        """Push a configuration."""
        if broken and mode == "exec":
            raise ToolException("configuration mode is required")
        return "commit complete"

    push_config.handle_tool_error = True
    agent = create_agent(
        ScriptedModel(script=[*script, "Done."]), tools=[push_config], middleware=[AuditMiddleware(memory)]
    )
    agent.invoke({"messages": [{"role": "user", "content": "push the config to core-sw-2"}]})


def test_a_corrected_call_of_an_agent_teaches_and_a_later_success_resolves(memory: Memory) -> None:
    work(memory, call("push_config", **WRONG), call("push_config", **RIGHT))
    failed, right = audited_calls(memory)
    assert (failed.tool, dict(failed.args or {}), bool(failed.failed)) == ("push_config", WRONG, True)
    assert (dict(right.args or {}), right.failed) == (RIGHT, None)
    assert run_learning(memory).reflections.count("written") == 1
    (row,) = memory.list(category="reflection")
    assert row.text == (
        "When you call push_config, use mode=config instead of mode=exec, because the other failed: "
        "configuration mode is required"
    )
    assert run_learning(memory).reflections.count("unchanged") == 1
    work(memory, call("push_config", **WRONG), broken=False)
    assert run_learning(memory).reflections.resolved == (row.id,)


def test_the_same_failure_of_two_runs_needs_no_correction(memory: Memory) -> None:
    for _ in range(2):
        work(memory, call("push_config", **WRONG))
    report = learn_reflections(memory, audited_calls(memory))
    assert report.count("written") == 1
    assert "don't repeat it as it is" in memory.list(category="reflection")[0].text


def test_a_captured_success_resolves_what_an_audited_failure_taught(memory: Memory) -> None:
    for _ in range(2):
        work(memory, call("push_config", **WRONG))
    (item,) = run_learning(memory).reflections.items
    memory.capture(tool="push_config", args=WRONG, result="commit complete")
    memory.captures.drain()
    assert run_learning(memory).reflections.resolved == (item.id,)
