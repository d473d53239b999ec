"""Records of real LangChain agents, in every form that LangChain writes them, as calls that failed or not."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.load import dumpd
from langchain_core.messages import ToolMessage, convert_to_openai_messages, messages_to_dict
from langchain_core.tools import tool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from olav_learn import RunCall, calls_of, learn_reflections, read_calls
from olav_learn.call_outcome import MAX_CAUSE_CHARS

from olav_core import Memory

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from scripted_model import ScriptedModel, call

ASK = "push the config of vlan 20 to core-sw-2"
WRONG = {"device": "core-sw-2", "mode": "exec"}
RIGHT = {"device": "core-sw-2", "mode": "config"}
LESSON = "When you call push_config, use mode=config instead of mode=exec, because the other failed: "


@tool
def push_config(device: str, mode: str) -> str:
    """Push a configuration."""
    if mode == "exec":
        raise ValueError("configuration mode is required")
    return "commit complete"


class Told(AgentMiddleware):
    """Errors of tools, as LangChain's documentation handles them."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except ValueError as error:
            return self._message(request, error)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except ValueError as error:
            return self._message(request, error)

    def _message(self, request: Any, error: ValueError) -> ToolMessage:
        return ToolMessage(f"Error: {error}", tool_call_id=request.tool_call["id"], status="error")


def agent(saver: Any = None) -> Any:
    model = ScriptedModel(script=[call("push_config", **WRONG), call("push_config", **RIGHT), "Done."])
    return create_agent(model, tools=[push_config], middleware=[Told()], checkpointer=saver)


def ask() -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": ASK}]}


def state() -> dict[str, Any]:
    return agent().invoke(ask())


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def snapshot() -> Any:
    config = {"configurable": {"thread_id": "t1"}}
    made = agent(InMemorySaver())
    made.invoke(ask(), config)
    return plain(
        {
            "values": {"messages": messages_to_dict(made.get_state(config).values["messages"])},
            "config": config,
        }
    )


def tree() -> Any:
    seen = RunCollectorCallbackHandler()
    agent().invoke(ask(), {"callbacks": [seen]})
    return seen.traced_runs[0]


def nested(run: Any) -> Any:
    return plain({**run.model_dump(), "child_runs": [nested(child) for child in run.child_runs]})


def flat(run: Any) -> list[dict[str, Any]]:
    """As a tracing service exports runs: one object each, without its children."""
    return [plain(run.model_dump()), *(inner for child in run.child_runs for inner in flat(child))]


def events() -> list[Any]:
    async def collect() -> list[Any]:
        return [event async for event in agent().astream_events(ask(), version="v2")]

    return plain([e for e in asyncio.run(collect()) if e["event"].startswith("on_tool")])


FORMS: dict[str, Callable[[], Any]] = {
    "the state of a finished agent": state,
    "its messages": lambda: state()["messages"],
    "messages_to_dict": lambda: messages_to_dict(state()["messages"]),
    "dumpd": lambda: [dumpd(message) for message in state()["messages"]],
    "model_dump": lambda: [message.model_dump() for message in state()["messages"]],
    "OpenAI's messages": lambda: convert_to_openai_messages(state()["messages"]),
    "a checkpoint of LangGraph": snapshot,
    "a tracer's run": tree,
    "a tracer's run as JSON": lambda: nested(tree()),
    "runs one by one": lambda: flat(tree()),
    "events of astream_events": events,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_teaches_the_same(form: str, memory: Memory) -> None:
    calls = calls_of(memory, FORMS[form]())
    assert [(c.tool, dict(c.args or {}), bool(c.failed)) for c in calls] == [
        ("push_config", WRONG, form != "OpenAI's messages"),  # these keep no status
        ("push_config", RIGHT, False),
    ] or form == "OpenAI's messages"
    assert "configuration mode is required" in calls[0].said
    report = learn_reflections(memory, calls)
    assert report.count("written") == 1, report
    (row,) = memory.list(category="reflection")
    assert row.text.startswith(LESSON)
    assert "configuration mode is required" in row.text
    assert learn_reflections(memory, calls_of(memory, FORMS[form]())).items[0].outcome in (
        "unchanged",
        "refreshed",
    )


@pytest.mark.parametrize("form", ["messages_to_dict", "a tracer's run as JSON", "a checkpoint of LangGraph"])
def test_told_again_a_record_changes_nothing(form: str, memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(FORMS[form](), ensure_ascii=False), "utf-8")
    outcomes = []
    for _ in range(2):
        calls, faults = read_calls(memory, path)
        assert not faults
        outcomes.append([item.outcome for item in learn_reflections(memory, calls).items])
        path.touch()
    assert outcomes == [["written"], ["unchanged"]]


def test_lines_of_different_forms_are_one_file(memory: Memory, tmp_path: Path) -> None:
    lines = [
        {"tool": "deploy", "args": {"lab": 1}, "result": "ok"},
        messages_to_dict(state()["messages"]),
        *flat(tree()),
        {"neither": "this"},
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(json.dumps(line, default=str) for line in lines), "utf-8")
    calls, faults = read_calls(memory, path)
    assert [call.tool for call in calls] == ["deploy", *["push_config"] * 4]
    assert [fault.line for fault in faults] == [len(lines)]


def told(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "human", "content": ASK}, *messages]


def wants(name: str, args: Any, id: str) -> dict[str, Any]:
    return {"type": "ai", "content": "", "tool_calls": [{"name": name, "args": args, "id": id}]}


def answer(id: str, content: Any, status: str = "success") -> dict[str, Any]:
    return {"type": "tool", "tool_call_id": id, "content": content, "status": status}


def test_a_call_that_nobody_answered_is_none(memory: Memory) -> None:
    assert calls_of(memory, told(wants("push_config", WRONG, "c1"))) == []


def test_arguments_that_are_no_json_are_a_failure(memory: Memory) -> None:
    bad = {
        "name": "push_config",
        "args": '{"device": ',
        "id": "c1",
        "error": None,
        "type": "invalid_tool_call",
    }
    (call,) = calls_of(
        memory, told({"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": [bad]})
    )
    assert call.failed == "the arguments are no JSON"


def test_blocks_of_content_are_read(memory: Memory) -> None:
    blocks = [{"type": "text", "text": "Error: no such VLAN"}, {"type": "image", "url": "x"}]
    (call,) = calls_of(memory, told(wants("push_config", WRONG, "c1"), answer("c1", blocks, "error")))
    assert call.failed == "Error: no such VLAN"


def test_what_worked_in_a_later_turn_corrects_nothing(memory: Memory) -> None:
    record = told(
        wants("push_config", WRONG, "c1"),
        answer("c1", "Error: configuration mode is required", "error"),
        {"type": "human", "content": "something else, please"},
        wants("push_config", {"device": "r1", "mode": "config"}, "c2"),
        answer("c2", "ok"),
    )
    assert learn_reflections(memory, calls_of(memory, record)).count("written") == 0


def test_ids_of_local_models_may_repeat(memory: Memory) -> None:
    first = told(
        wants("push_config", WRONG, "call_0"), answer("call_0", "Error: denied by policy 7", "error")
    )
    other = [{"type": "human", "content": "again"}, *first[1:]]
    calls = calls_of(memory, [first, other])
    assert len({call.uid for call in calls}) == 2
    assert learn_reflections(memory, calls).count("written") == 1


def test_a_record_that_is_read_later_is_no_later_success(memory: Memory, tmp_path: Path) -> None:
    record = told(
        wants("push_config", WRONG, "c1"), answer("c1", "ok"),
        wants("push_config", WRONG, "c2"), answer("c2", "Error: locked", "error"),
        wants("push_config", WRONG, "c3"), answer("c3", "Error: locked", "error"),
    )  # fmt: skip
    for _ in range(2):
        report = learn_reflections(memory, calls_of(memory, record))
        assert report.resolved == ()
    assert report.count("unchanged") == 1


@pytest.mark.parametrize("record", [None, 3, "text", [], {}, {"messages": ["x"]}, [{"role": "user"}], [3]])
def test_what_is_no_record_is_told(record: Any, memory: Memory) -> None:
    with pytest.raises(ValueError, match=r"is needed|are none"):
        calls_of(memory, record)


@pytest.mark.parametrize("record", [{"run_type": 3, "child_runs": [4]}, {"messages": []}])
def test_an_empty_record_has_no_calls(record: Any, memory: Memory) -> None:
    assert calls_of(memory, record) == []


@pytest.mark.parametrize("left", [0, 4, 8])
def test_a_long_cause_is_masked_before_it_is_cut(left: int, memory: Memory) -> None:
    part = "postgresql://admin:hunter2-Zx81-QQ"
    said = "no route " * 40
    said = said[: MAX_CAUSE_CHARS - len(part) + left] + f" {part}@db.example/x"
    (call,) = calls_of(memory, {"tool": "push", "args": {}, "error": said})
    assert "no route" in (call.failed or "")
    assert "hunter2" not in (call.failed or "")


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("Error: ValueError('no such VLAN')\n Please fix your mistakes.", "ValueError: no such VLAN"),
        (
            "Error invoking tool 'push_config' with kwargs {'device': 'x'} with error:\n"
            " mode: Field required\n Please fix the error and try again.",
            "mode: Field required",
        ),
        ("KeyError('vlan')Traceback (most recent call last):\n  File x", "KeyError: vlan"),
        ("Traceback (most recent call last):\n  File x\nOSError: disk full", "OSError: disk full"),
        ("The push failed:\n  line 3 is wrong", "The push failed: line 3 is wrong"),
        ({"error": {"code": 7, "message": "no route"}}, "no route"),
    ],
)
def test_the_cause_is_what_a_person_would_read(said: Any, cause: str, memory: Memory) -> None:
    (call,) = calls_of(memory, told(wants("push_config", WRONG, "c1"), answer("c1", said, "error")))
    assert call.failed == cause


def test_a_call_with_wrong_arguments_teaches_the_right_ones(memory: Memory) -> None:
    model = ScriptedModel(
        script=[call("push_config", device="core-sw-2"), call("push_config", **RIGHT), "Done."]
    )
    state = create_agent(model, tools=[push_config]).invoke(ask())
    assert learn_reflections(memory, calls_of(memory, state)).count("written") == 1
    (row,) = memory.list(category="reflection")
    assert row.text == (
        "When you call push_config, use mode=config, because the other failed: mode: Field required"
    )


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
NAMES = (
    "type", "role", "content", "tool_calls", "id", "name", "args", "tool_call_id", "status", "data",
    "kwargs", "run_type", "child_runs", "inputs", "outputs", "error", "event", "run_id", "input",
    "output", "messages", "values", "tool", "result", "time", "call", "function",
)  # fmt: skip
KEYS = st.sampled_from(NAMES) | st.text(max_size=4)
RECORDS = st.recursive(
    LEAVES | st.sampled_from(["ai", "tool", "human", "assistant", "on_tool_end", "error"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=24,
)


@given(RECORDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_json_is_read_or_refused(memory: Memory, record: Any) -> None:
    try:
        calls = calls_of(memory, record)
    except ValueError:
        return
    assert all(isinstance(call, RunCall) and call.tool for call in calls)


def test_secrets_in_records_are_masked(memory: Memory) -> None:
    record = told(
        wants("login", {"user": "lin", "password": "hunter2-Sommer!"}, "c1"),
        answer("c1", "Error: password=hunter2-Sommer! was refused", "error"),
    )
    (call,) = calls_of(memory, record)
    assert isinstance(call, RunCall)
    assert "hunter2" not in repr(call)


@pytest.mark.parametrize("name", [None, 7, ["show"], "", " "])
def test_a_run_whose_tool_has_no_name_is_a_fault(memory: Memory, tmp_path: Path, name: Any) -> None:
    path = tmp_path / "runs.jsonl"
    run = {"run_type": "tool", "id": "1", "inputs": {"host": "R1"}, "error": "unknown host R1"}
    path.write_text("\n".join(json.dumps({**run, "name": each}) for each in (name, "show")), "utf-8")
    calls, faults = read_calls(memory, path)
    assert [call.tool for call in calls] == ["show"]
    assert [fault.line for fault in faults] == [1]


def test_an_empty_file_is_a_fault(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n")
    assert "empty" in str(read_calls(memory, path)[1][0])
