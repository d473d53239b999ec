"""Deep agents with memory in every part, and tools strict enough for small models."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any, Literal

import pytest
from deepagents.backends import StoreBackend
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent as langchain_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from olav_deepagents import create_agent, export_tool, strict_tool
from olav_deepagents.coercion import strip_quote_leak
from olav_langchain import AutoRecallMiddleware, OlavStore, OperationalEventCapture
from scripted_model import ScriptedModel, call

from olav_core import ConfigError, Memory

OPEN = "<relevant-memories>"
ASK = "What is the loopback of router R1?"
CONFIG: Any = {"configurable": {"thread_id": "t"}}


@tool
def register_service(name: str) -> str:
    """Register a service."""
    return f"registered {name}"


def shown(messages: list[Any]) -> str:
    return "\n".join(str(message.content) for message in messages)


def team(memory: Memory, main: list[Any], sub: list[Any], **options: Any) -> tuple[Any, Any, Any]:
    boss, worker = ScriptedModel(script=main), ScriptedModel(script=sub)
    spec = {
        "name": "billing",
        "description": "Does invoices",
        "system_prompt": "You do invoices.",
        "model": worker,
        **options.pop("spec", {}),
    }
    agent = create_agent(memory, boss, tools=[register_service], agent="netops", subagents=[spec], **options)
    return agent, boss, worker


TASK = "How are invoices of tenant acme numbered?"


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_main_agent_and_subagent_recall_their_own_and_are_captured_once(memory: Memory, how: str) -> None:
    saver = InMemorySaver()
    agent, boss, worker = team(
        memory,
        [
            call("task", description=TASK, subagent_type="billing"),
            call("register_service", name="main"),
            "done",
        ],
        [call("register_service", name="sub"), "done"],
        checkpointer=saver,
    )
    given = {"messages": [HumanMessage(ASK)]}
    state = agent.invoke(given, CONFIG) if how == "invoke" else asyncio.run(agent.ainvoke(given, CONFIG))
    for messages in boss.seen:
        assert shown(messages).count(OPEN) == 1
        assert "10.255.0.1" in shown(messages)
    for messages in worker.seen:
        assert shown(messages).count(OPEN) == 1
        assert "AC-1000" in shown(messages)
        assert "10.255.0.1" not in shown(messages)
    assert len(worker.seen) == 2
    assert OPEN not in shown(state["messages"])
    assert OPEN not in repr(list(saver.list(CONFIG)))
    memory.captures.drain()
    found = memory.list(category="operational_event")
    assert {(e.scope, e.metadata["args"]["name"], e.metadata["count"]) for e in found} == {
        ("netops", "main", 1),
        ("billing", "sub", 1),
    }


def test_the_general_purpose_subagent_has_memory_too(memory: Memory) -> None:
    model = ScriptedModel(
        script=[
            call("task", description=ASK, subagent_type="general-purpose"),
            call("register_service", name="inside"),
            "sub done",
            "done",
        ]
    )
    create_agent(memory, model, tools=[register_service], agent="netops").invoke(
        {"messages": [HumanMessage("delegate it")]}
    )
    assert "10.255.0.1" in shown(model.seen[1])
    memory.captures.drain()
    (event,) = memory.list(category="operational_event")
    assert event.scope == "netops"


def test_agents_gives_a_subagent_another_name_in_the_memory(memory: Memory) -> None:
    script = [call("task", description=ASK, subagent_type="billing"), "done"]
    agent, _, worker = team(memory, script, [], agents={"billing": "netops"})
    agent.invoke({"messages": [HumanMessage("go")]})
    assert "10.255.0.1" in shown(worker.seen[0])
    with pytest.raises(ConfigError, match="accounting"):
        team(memory, [], [], agents={"accounting": "netops"})


def test_the_hosts_own_middleware_takes_the_place_of_ours(memory: Memory) -> None:
    own = AutoRecallMiddleware(memory, agent="billing")
    model = ScriptedModel()
    agent = create_agent(memory, model, agent="netops", middleware=[own])
    agent.invoke({"messages": [HumanMessage(f"{ASK} {TASK}")]})
    assert shown(model.seen[0]).count(OPEN) == 1
    assert "AC-1000" in shown(model.seen[0])
    assert "10.255.0.1" not in shown(model.seen[0])


def test_deepagents_own_files_can_lie_in_the_store(memory: Memory) -> None:
    store = OlavStore(memory)
    backend = StoreBackend(store=store, namespace=lambda _: ("files", "netops"))
    write = call("write_file", file_path="/notes.md", content="R8 is in rack 4")
    model = ScriptedModel(script=[write, call("read_file", file_path="/notes.md"), "done"])
    agent = create_agent(memory, model, backend=backend, capture=False)
    state = agent.invoke({"messages": [HumanMessage("take a note")]})
    assert "R8 is in rack 4" in shown(state["messages"])
    (item,) = store.search(("files",))
    assert item.key == "/notes.md"


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_compiled_subagent_recalls_at_its_entrance_and_is_captured(memory: Memory, how: str) -> None:
    worker = ScriptedModel(script=[call("register_service", name="sub"), "done"])
    compiled = langchain_agent(worker, tools=[register_service])
    saver = InMemorySaver()
    boss = ScriptedModel(script=[call("task", description=TASK, subagent_type="ready"), "done"])
    spec = {"name": "ready", "description": "Does invoices", "runnable": compiled}
    agent = create_agent(
        memory, boss, agent="netops", subagents=[spec], agents={"ready": "billing"}, checkpointer=saver
    )
    given = {"messages": [HumanMessage(ASK)]}
    state = agent.invoke(given, CONFIG) if how == "invoke" else asyncio.run(agent.ainvoke(given, CONFIG))
    assert len(worker.seen) == 2
    for messages in worker.seen:
        assert shown(messages).count(OPEN) == 1
        assert "AC-1000" in shown(messages)
    assert OPEN not in shown(state["messages"])
    own = [kept for kept in saver.list(CONFIG) if not kept.config["configurable"]["checkpoint_ns"]]
    assert own
    assert OPEN not in repr(own)
    memory.captures.drain()
    (event,) = memory.list(category="operational_event")
    assert (event.scope, event.metadata["args"], event.metadata["count"]) == ("billing", {"name": "sub"}, 1)


@pytest.mark.parametrize("entered", [True, False])
def test_a_compiled_subagent_with_memory_of_its_own_sees_one_block_and_is_captured_once(
    memory: Memory, entered: bool
) -> None:
    worker = ScriptedModel(script=[call("register_service", name="sub"), "done"])
    own = [AutoRecallMiddleware(memory, agent="billing"), OperationalEventCapture(memory, agent="billing")]
    compiled = langchain_agent(worker, tools=[register_service], middleware=own)
    boss = ScriptedModel(script=[call("task", description=TASK, subagent_type="billing"), "done"])
    spec = {"name": "billing", "description": "Does invoices", "runnable": compiled}
    saver = InMemorySaver()
    agent = create_agent(memory, boss, subagents=[spec], compiled=entered, checkpointer=saver)
    agent.invoke({"messages": [HumanMessage(ASK)]}, CONFIG)
    assert (OPEN in repr(list(saver.list(CONFIG)))) is entered
    assert [shown(messages).count(OPEN) for messages in worker.seen] == [1, 1]
    memory.captures.drain()
    (event,) = memory.list(category="operational_event")
    assert event.metadata["count"] == 1


def test_a_compiled_subagent_runs_without_memories_when_recall_fails(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = ScriptedModel(script=["done"])
    boss = ScriptedModel(script=[call("task", description=TASK, subagent_type="ready"), "done"])
    spec = {"name": "ready", "description": "x", "runnable": langchain_agent(worker, tools=[])}
    agent = create_agent(memory, boss, subagents=[spec])

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError("no disk")

    monkeypatch.setattr(type(memory), "recall", fail)
    assert agent.invoke({"messages": [HumanMessage(ASK)]})["messages"][-1].content == "done"
    assert OPEN not in shown(worker.seen[0])


def test_a_remote_subagent_is_told_about(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    spec = {"name": "far", "description": "Remote", "graph_id": "g", "url": "http://127.0.0.1:9"}
    with caplog.at_level(logging.WARNING, "olav.deepagents"):
        create_agent(memory, ScriptedModel(), subagents=[spec])
    assert "subagent far runs elsewhere" in caplog.text


def test_virtual_writes_are_hidden_and_denied_where_the_host_exports(memory: Memory, tmp_path: Path) -> None:
    out = tmp_path / "reports"
    write = call("write_file", file_path="/r.md", content="x")
    agent, boss, worker = team(
        memory,
        [
            write,
            call("format_and_export", data="# BGP", format="md", filename="bgp"),
            call("task", description=TASK, subagent_type="billing"),
        ],
        [write, call("format_and_export", data="a,b\n1,2", format="csv", filename='"invoices"')],
        export_to=out,
    )
    state = agent.invoke({"messages": [HumanMessage("write a report")]})
    for model in (boss, worker):
        for offered in model.offered:
            assert {"read_file", "format_and_export"} <= set(offered)
            assert not {"write_file", "edit_file", "delete", "execute"} & set(offered)
        refused = next(m for m in model.seen[1] if isinstance(m, ToolMessage))
        assert refused.status == "error"
    assert not state.get("files")
    assert (out / "bgp.md").read_text() == "# BGP\n"
    assert (out / "invoices.csv").read_text() == "a,b\n1,2\n"
    memory.captures.drain()
    assert {e.metadata["tool"] for e in memory.list(category="operational_event")} == {"format_and_export"}


def test_an_interrupt_in_a_deep_agent_is_a_gate(memory: Memory) -> None:
    from langgraph.types import Command

    agent, _, _ = team(
        memory,
        [call("register_service", name="a"), "done"],
        [],
        interrupt_on={"register_service": True},
        checkpointer=InMemorySaver(),
    )
    agent.invoke({"messages": [HumanMessage(ASK)]}, CONFIG)
    memory.captures.drain()
    assert memory.list(category="operational_event") == []
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)
    memory.captures.drain()
    assert len(memory.list(category="operational_event")) == 1


# --- format_and_export --------------------------------------------------------------------------------


def export(directory: Path, **arguments: Any) -> ToolMessage:
    message = export_tool(directory).invoke(
        {"name": "format_and_export", "args": arguments, "id": "1", "type": "tool_call"}
    )
    assert isinstance(message, ToolMessage)
    return message


@pytest.mark.parametrize(
    ("data", "format", "content"),
    [
        ("# 标题", "md", "# 标题\n"),
        ("a,b\n1,2\n", "csv", "a,b\n1,2\n"),
        ('[{"a": 1, "b": "x,y"}, {"a": 2}]', "csv", 'a,b\n1,"x,y"\n2,\n'),
        ('{"a":1}', "json", '{\n  "a": 1\n}\n'),
        ("<p>hi</p>", "html", "<p>hi</p>\n"),
        ("1 < 2", "html", '<!doctype html>\n<meta charset="utf-8">\n<pre>1 &lt; 2</pre>\n'),
        (f"{OPEN}x</relevant-memories>\n\nbody", "md", "body\n"),
    ],
)
def test_what_is_written(tmp_path: Path, data: str, format: str, content: str) -> None:
    message = export(tmp_path, data=data, format=format, filename="site/out")
    assert message.status == "success"
    assert json.loads(message.text)["path"] == f"site/out.{format}"
    assert (tmp_path / "site" / f"out.{format}").read_text(encoding="utf-8") == content


@pytest.mark.parametrize(
    ("given", "name"),
    [('"reports"', "reports.md"), ("'r.md'", "r.md"), ("r.html", "r.md"), ("v1.2", "v1.2.md"),
     (2024, "2024.md"), ("“报告”", "报告.md"), ("r.MD", "r.MD")],
)  # fmt: skip
def test_names_are_mended(tmp_path: Path, given: Any, name: str) -> None:
    assert export(tmp_path, data="x", format='"md"', filename=given).status == "success"
    assert [path.name for path in tmp_path.iterdir()] == [name]


BAD_NAMES = ["../x", "/etc/passwd", "a/../../x", "..\\x", "C:\\x", "~/x", ".olav/config", "", "a\x00b",
             "x" * 300, "link/x", "file:///x"]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_nothing_is_written_outside(tmp_path: Path, name: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)
    message = export(root, data="x", format="md", filename=name)
    assert message.status == "error"
    assert "Send" in message.text
    assert list(outside.iterdir()) == []
    assert sorted(path.name for path in root.iterdir()) == ["link"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside", "root"]


@pytest.mark.parametrize("data", [{"format": "md", "text": "# x"}, ["a"], None, True])
def test_data_that_is_no_text_is_refused_with_what_to_send(tmp_path: Path, data: Any) -> None:
    message = export(tmp_path, data=data, format="md", filename="x")
    assert message.status == "error"
    assert "data must be one string" in message.text
    assert 'format: one of "md", "csv", "json", "html"' in message.text
    assert list(tmp_path.iterdir()) == []


def test_bad_json_and_empty_data_are_refused(tmp_path: Path) -> None:
    assert "not JSON" in export(tmp_path, data="{", format="json", filename="x").text
    assert "empty" in export(tmp_path, data=" ", format="md", filename="x").text
    assert list(tmp_path.iterdir()) == []


# --- strict_tool --------------------------------------------------------------------------------------


@strict_tool
def plan(
    device: str, count: int, ports: list[str], mode: Literal["dry", "real"] = "dry", note: str | None = None
) -> dict[str, Any]:
    """Plan something."""
    return {"device": device, "count": count, "ports": ports, "mode": mode, "note": note}


def ask(**arguments: Any) -> ToolMessage:
    message = plan.invoke({"name": "plan", "args": arguments, "id": "1", "type": "tool_call"})
    assert isinstance(message, ToolMessage)
    return message


def test_quirks_of_small_models_are_undone() -> None:
    message = ask(device='"R1"', count="3", ports='["a", "b"]', mode="`real`", note="null")
    assert json.loads(message.text) == {
        "device": "R1", "count": 3, "ports": ["a", "b"], "mode": "real", "note": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"device": {"name": "R1"}, "count": 1, "ports": []},
            "device must be one string, but you sent an object",
        ),
        ({"device": "R1", "count": 1.5, "ports": []}, "count must be a whole number"),
        ({"device": "R1", "count": True, "ports": []}, "count must be a whole number"),
        (
            {"device": "R1", "count": "many", "ports": []},
            "number, but you sent a string",
        ),
        ({"device": "R1", "count": 1, "ports": "a"}, "ports must be a list"),
        ({"device": "R1", "ports": []}, "count is missing"),
        ({"device": "R1", "count": 1, "ports": [], "extra": 1}, "no argument 'extra'"),
        ({"device": "R1", "count": 1, "ports": [], "mode": "wild"}, 'mode must be one of "dry", "real"'),
    ],
)
def test_errors_say_what_to_send(arguments: dict[str, Any], said: str) -> None:
    message = ask(**arguments)
    assert message.status == "error"
    assert said in message.text
    assert "Call plan again with exactly: device: one string" in message.text


def test_a_value_error_is_the_models_to_repair_and_other_errors_are_not() -> None:
    @strict_tool(name="check", capture=False)
    def check(kind: str) -> str:
        """Check."""
        if kind == "value":
            raise ValueError("send another kind")
        raise RuntimeError("broken")

    wanted = {"name": "check", "id": "1", "type": "tool_call"}
    message = check.invoke({**wanted, "args": {"kind": "value"}})
    assert (message.status, message.content) == ("error", "send another kind")
    with pytest.raises(RuntimeError, match="broken"):
        check.invoke({**wanted, "args": {"kind": "x"}})
    assert check.metadata == {"olav_capture": False}


def test_an_async_function_is_a_tool_too() -> None:
    @strict_tool
    async def wait(seconds: int) -> str:
        """Wait."""
        if seconds > 5:
            raise ValueError("at most 5")
        return f"waited {seconds}"

    wanted = {"name": "wait", "id": "1", "type": "tool_call"}
    assert asyncio.run(wait.ainvoke({**wanted, "args": {"seconds": "3"}})).content == "waited 3"
    assert asyncio.run(wait.ainvoke({**wanted, "args": {"seconds": 9}})).content == "at most 5"
    assert "whole number" in asyncio.run(wait.ainvoke({**wanted, "args": {"seconds": "x"}})).content


@given(st.text(max_size=40))
def test_stripping_leaked_quotes_never_touches_inner_text(text: str) -> None:
    bare = strip_quote_leak(text)
    assert bare in text
    assert strip_quote_leak(f'"{bare}"') in (bare.strip(), f'"{bare}"')


@pytest.mark.parametrize("text", ['"a" and "b"', "it's", "'", '""x', "`a` `b`", '"' + "x" * 300 + '"'])
def test_quotes_that_belong_stay(text: str) -> None:
    assert strip_quote_leak(text) == text
