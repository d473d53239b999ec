"""Capture after every write, in real LangChain loops driven by a scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolRetryMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from olav_langchain import AutoRecallMiddleware, OperationalEventCapture, memory_tools
from scripted_model import ScriptedModel, call, calls

from olav_core import Memory, MemoryRecord

CONFIG: Any = {"configurable": {"thread_id": "t"}}
SECRET = "hunter2-Zx81-QQ"


@tool
def register_service(name: str, owner: str = "noc", password: str = "") -> str:
    """Register a service."""
    return f"registered {name}"


@tool
def list_created_users(team: str) -> str:
    """List users."""
    return "ada, bob"


def answering(result: Any, name: str = "deploy_lab") -> Any:
    """A write-class tool that answers `result`, or raises it."""

    @tool(name, description="Deploy a lab.")
    def deploy(site: str = "a") -> Any:
        if isinstance(result, BaseException):
            raise result
        return result

    return deploy


def run(memory: Memory, script: list[Any], tools: list[Any], how: str = "invoke", **options: Any) -> Any:
    model = ScriptedModel(script=script)
    capture = OperationalEventCapture(memory, agent="netops", **options.pop("capture", {}))
    agent = create_agent(model, tools=tools, middleware=[*options.pop("before", ()), capture], **options)
    given = {"messages": [HumanMessage("do it")]}
    state = agent.invoke(given, CONFIG) if how == "invoke" else asyncio.run(agent.ainvoke(given, CONFIG))
    return agent, capture, state


def events(memory: Memory) -> list[MemoryRecord]:
    report = memory.captures.drain()
    assert not report.error
    return memory.list(category="operational_event")


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_successful_write_is_captured_once_and_a_look_is_not(memory: Memory, how: str) -> None:
    script = [
        calls(("register_service", {"name": "grafana-ams"}), ("list_created_users", {"team": "noc"})),
        call("register_service", name="grafana-fra"),
    ]
    _, capture, _ = run(memory, script, [register_service, list_created_users], how)
    found = events(memory)
    assert {record.metadata["args"]["name"] for record in found} == {"grafana-ams", "grafana-fra"}
    assert {(record.scope, record.origin, record.metadata["count"]) for record in found} == {
        ("netops", "agent", 1)
    }
    assert capture.failures == 0


@pytest.mark.parametrize(
    "result",
    [
        '{"status": "failed", "reason": "quota"}',
        '{"ok": false}',
        {"error": "no such site"},
        "Traceback (most recent call last):\n  File x\nValueError: no",
        "deploy: permission denied",
        "% Invalid input detected at '^' marker.",
        ToolMessage("deployed", tool_call_id="x", status="error"),
    ],
    ids=repr,
)
def test_failures_are_not_captured(memory: Memory, result: Any) -> None:
    if isinstance(result, ToolMessage):
        result = result.model_copy(update={"tool_call_id": "call_0_deploy_lab_1"})
    run(memory, [call("deploy_lab")], [answering(result)])
    assert events(memory) == []


def test_a_tool_that_raises_is_not_captured(memory: Memory) -> None:
    with pytest.raises(RuntimeError, match="boom"):
        run(memory, [call("deploy_lab")], [answering(RuntimeError("boom"))])
    assert events(memory) == []


def test_wrong_arguments_and_unknown_tools_are_not_captured(memory: Memory) -> None:
    script = [call("register_service", nome="x"), call("create_nothing", name="x")]
    run(memory, script, [register_service])
    assert events(memory) == []


def test_a_retried_tool_is_one_event(memory: Memory) -> None:
    attempts = []

    @tool
    def deploy_lab(site: str) -> str:
        """Deploy."""
        attempts.append(site)
        if len(attempts) < 3:
            raise ConnectionError("away")
        return "deployed"

    retry = ToolRetryMiddleware(max_retries=3, initial_delay=0.0, jitter=False)
    run(memory, [call("deploy_lab", site="ams")], [deploy_lab], before=[retry])
    (event,) = events(memory)
    assert len(attempts) == 3
    assert event.metadata["count"] == 1


@pytest.mark.parametrize(
    "result",
    [
        "deployed",
        None,
        ["a", "b"],
        [{"type": "text", "text": "deployed"}],
        [{"type": "image", "base64": "A" * 4000, "mime_type": "image/png"}],
        {"deep": {"er": [1, 2.5, None, True]}},
        b"\x00\xff",
        "x" * 10_000_000,
        "lone \ud800 surrogate and \x00",
        Command(update={"messages": [ToolMessage("deployed", tool_call_id="call_0_deploy_lab_1")]}),
    ],
    ids=lambda result: type(result).__name__,
)
def test_results_of_every_kind_are_captured_within_bounds(memory: Memory, result: Any) -> None:
    _, capture, _ = run(memory, [call("deploy_lab")], [answering(result)])
    found = events(memory)
    assert capture.failures == 0
    assert len(found) == 1
    assert len(found[0].text) < 20_000


def test_a_call_that_a_person_rejects_is_not_captured(memory: Memory) -> None:
    ask = HumanInTheLoopMiddleware(interrupt_on={"register_service": True})
    script = [call("register_service", name="a"), call("register_service", name="b")]
    agent, _, state = run(memory, script, [register_service], before=[ask], checkpointer=InMemorySaver())
    assert "__interrupt__" in state
    assert events(memory) == []
    agent.invoke(
        Command(resume={"decisions": [{"type": "reject", "message": "registered elsewhere"}]}), CONFIG
    )
    assert events(memory) == []
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)
    assert [event.metadata["args"]["name"] for event in events(memory)] == ["b"]


def test_later_turns_capture_nothing_again(memory: Memory) -> None:
    saver = InMemorySaver()
    script: list[Any] = [call("register_service", name="a"), "done", "nothing to do"]
    agent, _, _ = run(memory, script, [register_service], checkpointer=saver)
    (before,) = events(memory)
    agent.invoke({"messages": [HumanMessage("thanks")]}, CONFIG)
    # Another process resumes the thread: it has seen no call run.
    run(memory, ["fine"], [register_service], checkpointer=saver)
    (after,) = events(memory)
    assert after == before
    assert after.metadata["count"] == 1


def test_the_scan_and_the_wrapper_count_a_call_once(memory: Memory) -> None:
    saver = InMemorySaver()
    _, _, state = run(memory, [call("register_service", name="a")], [register_service], checkpointer=saver)
    OperationalEventCapture(memory, agent="netops").scan(state["messages"], thread="t")
    (event,) = events(memory)
    assert event.metadata["count"] == 1


def test_the_scan_alone_serves_hosts_that_only_have_messages(memory: Memory) -> None:
    wanted = [
        {"name": "push_config", "args": {"device": "R1"}, "id": "1"},
        {"name": "push_config", "args": {"device": "R2"}, "id": "2"},
        {"name": "get_update_status", "args": {}, "id": "3"},
        {"name": "push_config", "args": {"device": "R3"}, "id": "4"},
    ]
    messages = [
        HumanMessage("push"),
        AIMessage("", tool_calls=wanted),
        ToolMessage("committed", tool_call_id="1"),
        ToolMessage("committed", tool_call_id="2", status="error"),
        ToolMessage("updated", tool_call_id="3"),
        AIMessage("done"),
    ]
    capture = OperationalEventCapture(memory, agent="netops")
    capture.scan(messages)
    capture.scan(messages)
    (event,) = events(memory)
    assert event.metadata["args"] == {"device": "R1"}
    assert event.metadata["count"] == 1


def test_marks_of_the_host_and_of_the_tool(memory: Memory) -> None:
    deploy = answering("ok")
    note = answering("ok", "jot_down")
    note.metadata = {"olav_capture": True}
    script = [
        calls(
            ("deploy_lab", {"site": "b"}), ("jot_down", {"site": "c"}), ("list_created_users", {"team": "x"})
        )
    ]
    marks = {"deploy_lab": False, "list_created_users": True}
    run(memory, script, [deploy, note, list_created_users], capture={"tools": marks})
    assert {event.metadata["tool"] for event in events(memory)} == {"jot_down", "list_created_users"}


def test_a_failing_capture_never_fails_the_call(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(memory, "capture", fail)
    _, capture, state = run(memory, [call("register_service", name="a")], [register_service])
    assert "registered a" in [message.content for message in state["messages"]]
    assert (capture.failures, capture.last_error) == (1, "RuntimeError")


def test_recall_and_capture_feed_each_other_nothing(memory: Memory) -> None:
    """Twenty turns with recall, capture and the memory's own tools: rows grow with new operations only."""

    @tool
    def write_note(text: str) -> str:
        """Write a note."""
        return text

    def repeat(messages: list[Any]) -> AIMessage:
        return call("write_note", text=str(messages[-1].content))  # the user's message as the model saw it

    question = "What is the loopback of router R1?"
    script = [
        step for _ in range(20) for step in (repeat, call("olav_recall_memory", query=question), "done")
    ]
    model = ScriptedModel(script=script)
    middleware = [
        AutoRecallMiddleware(memory, agent="netops", tools=memory_tools(memory, agent="netops")),
        OperationalEventCapture(memory, agent="netops"),
    ]
    agent = create_agent(model, tools=[write_note], middleware=middleware, checkpointer=InMemorySaver())
    rows = memory.store.count()
    for _ in range(20):
        agent.invoke({"messages": [HumanMessage(question)]}, CONFIG)
    (event,) = events(memory)
    assert event.metadata["count"] == 20
    assert event.metadata["args"] == {"text": question}
    assert "relevant-memories" not in event.text
    assert memory.store.count() == rows + 1
