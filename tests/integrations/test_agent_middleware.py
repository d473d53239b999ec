"""agent_middleware: what plug-ins registered, built for agents; a stranger's reaches every part of one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain.agents import create_agent as langchain_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from olav_deepagents import create_agent
from scripted_model import ScriptedModel, call

from olav_core import ConfigError, Memory, MiddlewareSpec, UnknownIdError, agent_middleware, hookimpl, open
from olav_core.testing import open_workspace

ASK = "R1 的 loopback 是什么? What is the loopback of router R1?"
CALLS: list[str] = []


@tool
def register_service(name: str) -> str:
    """Register a service."""
    return f"registered {name}"


class Watch(AgentMiddleware[Any, Any, Any]):
    """A stranger's: notes for which agent a model is called."""

    def __init__(self, agent: str, word: str = "") -> None:
        super().__init__()
        self.tools = []
        self._note = f"{agent}{word}"

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        CALLS.append(self._note)
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        CALLS.append(self._note)
        return await handler(request)


def stranger(*ids: str, **fields: Any) -> ModuleType:
    def make(memory: Memory, agent: str, **options: Any) -> Watch:
        return Watch(agent, **options)

    def olav_register_agent_middleware() -> list[MiddlewareSpec]:
        settled = {"framework": "langchain", "purpose": "Watch", "factory": make, **fields}
        return [MiddlewareSpec(id=id, **settled) for id in ids]

    olav_register_agent_middleware.__module__ = "olav_stranger"
    module = ModuleType("olav_stranger")
    setattr(module, "olav_register_agent_middleware", hookimpl(olav_register_agent_middleware))  # noqa: B010
    return module


@pytest.fixture(autouse=True)
def _no_calls() -> Iterator[None]:
    CALLS.clear()
    yield
    CALLS.clear()


def names(made: list[Any]) -> list[str]:
    return [type(one).__name__ for one in made]


def test_the_defaults_come_in_their_order_and_others_when_named(memory: Memory) -> None:
    plain = agent_middleware(memory, "langchain", agent="netops")
    assert names(plain) == ["AutoRecallMiddleware", "OperationalEventCapture"]
    assert {one.agent for one in plain} == {"netops"}
    use: dict[str, Any] = {"tool_audit": {"user": "ada"}, "query_capture": True, "event_capture": False}
    made = agent_middleware(memory, "langchain", use=use)
    assert names(made) == ["AutoRecallMiddleware", "QueryCaptureMiddleware", "AuditMiddleware"]
    assert agent_middleware(memory, "smolagents") == []


def test_ids_that_nobody_brought_are_told(memory: Memory) -> None:
    with pytest.raises(UnknownIdError, match=r"auto_recal.*Did you mean 'auto_recall'"):
        agent_middleware(memory, "langchain", use={"auto_recal": False})
    with pytest.raises(UnknownIdError, match="审计"):
        create_agent(memory, ScriptedModel(script=["x"]), use={"审计": True})
    with pytest.raises(ConfigError, match="for langchain, not for smolagents"):
        agent_middleware(memory, "smolagents", use={"auto_recall": True})


def test_what_is_switched_off_is_left_out(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLAV_DISABLE", "auto_recall")
    with open(memory.workspace.root) as again:
        assert names(agent_middleware(again, "langchain")) == ["OperationalEventCapture"]
        create_agent(again, ScriptedModel(script=["x"]))


def test_two_plug_ins_with_one_id_are_a_fault_that_names_it(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "ws", stranger("watch", "watch")) as memory:
        assert "watch" not in memory.registry.agent_middleware
        assert any("registered twice here" in str(fault) for fault in memory.registry.faults)


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_strangers_middleware_runs_in_every_part_of_a_deep_agent(tmp_path: Path, how: str) -> None:
    plugin = stranger("watch", default=True, compiled=True, priority=5)
    ready = langchain_agent(ScriptedModel(script=["ready"]), tools=[])
    worker = ScriptedModel(script=["done"])
    with open_workspace(tmp_path / "ws", plugin) as memory:
        memory.remember("The loopback of router R1 is 10.255.0.1", scope="netops")
        agent = create_agent(
            memory,
            ScriptedModel(
                script=[
                    call("task", description="发票怎么编号?", subagent_type="billing"),
                    call("task", description="look", subagent_type="ready"),
                    "done",
                ]
            ),
            agent="netops",
            subagents=[
                {"name": "billing", "description": "d", "system_prompt": "s", "model": worker},
                {"name": "ready", "description": "d", "runnable": ready},
            ],
            use={"watch": {"word": "!"}},
        )
        given = {"messages": [HumanMessage(ASK)]}
        state = agent.invoke(given) if how == "invoke" else asyncio.run(agent.ainvoke(given))
    assert CALLS == ["netops!", "billing!", "netops!", "ready!", "netops!"]
    assert "relevant-memories" not in str(state)


def test_one_that_does_not_fit_a_compiled_graph_is_kept_from_it(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "ws", stranger("watch", default=True)) as memory:
        assert "Watch" in names(agent_middleware(memory, "langchain"))
        assert "Watch" not in names(agent_middleware(memory, "langchain", compiled=True))


def test_audit_in_a_deep_agent_sees_main_sub_and_compiled_agents(memory: Memory) -> None:
    def worker() -> ScriptedModel:
        return ScriptedModel(script=[call("register_service", name="sub"), "done"])

    ready = langchain_agent(worker(), tools=[register_service])
    agent = create_agent(
        memory,
        ScriptedModel(
            script=[
                call("task", description="one", subagent_type="billing"),
                call("task", description="two", subagent_type="ready"),
                call("register_service", name="main"),
                "done",
            ]
        ),
        tools=[register_service],
        agent="netops",
        subagents=[
            {"name": "billing", "description": "d", "system_prompt": "s", "model": worker()},
            {"name": "ready", "description": "d", "runnable": ready},
        ],
        use={"tool_audit": {"user": "ada"}},
    )
    agent.invoke({"messages": [HumanMessage(ASK)]})
    rows = memory.list(category="audit")
    said = sorted((row.metadata["agent"], row.metadata["tool"]) for row in rows)
    assert said == [
        ("billing", "register_service"),
        ("netops", "register_service"),
        ("netops", "task"),
        ("netops", "task"),
        ("ready", "register_service"),
    ]
