"""The audit trail: what agents did, in real LangChain loops; append-only, masked, never injected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from olav_audit_trail import AuditMiddleware, AuditTrail
from olav_audit_trail.call import calls_of_turn
from olav_audit_trail.trail import MAX_ERROR_CHARS
from scripted_model import ScriptedModel, call, calls

import olav_core
from olav_core import EmbedderUnavailableError, Memory, MemoryRecord, RecordError
from olav_core.cli.main import main
from olav_core.testing import FakeClock

SECRET = "hunter2-Zx81-QQ"


@tool
def push_config(device: str, mode: str = "config", password: str = "") -> str:
    """Push a configuration."""
    if mode == "exec":
        return "% Invalid input detected at '^' marker."
    if mode == "raise":
        raise ConnectionError(f"no route to {device}, password={password}")
    return f"pushed to {device}"


@tool
def show_version(device: str) -> str:
    """Show the version."""
    return "17.9"


def run(memory: Memory, script: list[Any], how: str = "invoke", **options: Any) -> AuditMiddleware:
    audit = AuditMiddleware(memory, agent="netops", **options.pop("audit", {}))
    agent = create_agent(
        ScriptedModel(script=script), tools=[push_config, show_version], middleware=[audit], **options
    )
    given = {"messages": [HumanMessage("do it", id="m1")]}
    config: Any = {"configurable": {"thread_id": "t", "user_id": "alice"}}
    _ = agent.invoke(given, config) if how == "invoke" else asyncio.run(agent.ainvoke(given, config))
    return audit


def rows(memory: Memory) -> list[MemoryRecord]:
    return sorted(AuditTrail(memory).rows(), key=lambda row: (row.metadata["call"], row.timestamp))


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_every_call_is_a_row_whatever_came_of_it(memory: Memory, how: str) -> None:
    script = [
        calls(("push_config", {"device": "sw2", "mode": "exec"}), ("show_version", {"device": "sw2"})),
        call("push_config", device="sw2"),
        call("push_config", nome="sw2"),
    ]
    audit = run(memory, script, how)
    assert audit.failures == 0, audit.last_error
    found = {(row.metadata["tool"], row.metadata["outcome"]) for row in rows(memory)}
    assert found == {
        ("push_config", "error"),
        ("show_version", "success"),
        ("push_config", "success"),
    }
    assert len(rows(memory)) == 4
    failed = next(row for row in rows(memory) if row.metadata["args"].get("mode") == "exec")
    data = failed.metadata
    assert (data["user"], data["agent"], data["action"], data["run"]) == (
        "alice",
        "netops",
        "push_config",
        "t/m1",
    )
    assert data["error"].startswith("% Invalid input")
    assert data["seconds"] >= 0
    assert failed.text == "user alice · agent netops · push_config · error: " + data["error"]
    assert (failed.scope, failed.origin) == ("netops", "audit")


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_tool_that_raises_leaves_a_row_and_the_error_goes_on(memory: Memory, how: str) -> None:
    with pytest.raises(ConnectionError):
        run(memory, [call("push_config", device="sw2", mode="raise", password=SECRET)], how)
    (row,) = rows(memory)
    assert row.metadata["outcome"] == "error"
    assert "no route to sw2" in row.metadata["error"]


def given(id: str = "c1") -> Any:
    return SimpleNamespace(
        tool_call={"name": "push_config", "id": id, "args": {"device": "sw2"}},
        state={"messages": []},
        runtime=None,
    )


def test_a_call_that_is_cancelled_leaves_a_row(memory: Memory) -> None:
    audit = AuditMiddleware(memory)

    async def scenario() -> None:
        begun = asyncio.Event()

        async def slow(request: Any) -> Any:
            begun.set()  # the device has its new configuration by now, the answer is slow
            await asyncio.Event().wait()

        running = asyncio.ensure_future(audit.awrap_tool_call(given(), slow))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(scenario())
    (row,) = rows(memory)
    assert (row.metadata["outcome"], row.metadata["error"]) == ("cancelled", "CancelledError")
    assert row.metadata["args"] == {"device": "sw2"}


def test_a_call_that_is_interrupted_leaves_a_row(memory: Memory) -> None:
    def interrupted(request: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        AuditMiddleware(memory).wrap_tool_call(given(), interrupted)
    (row,) = rows(memory)
    assert row.metadata["outcome"] == "cancelled"


def test_secrets_are_masked_in_every_field(memory: Memory) -> None:
    with pytest.raises(ConnectionError):
        run(memory, [call("push_config", device="sw2", mode="raise", password=SECRET)])
    (row,) = rows(memory)
    assert SECRET not in json.dumps(dict(row.metadata)) + row.text + row.search_text
    assert row.metadata["args"]["device"] == "sw2"


@pytest.mark.parametrize("at", [MAX_ERROR_CHARS, 2 * MAX_ERROR_CHARS])
def test_a_long_error_is_masked_before_it_is_cut(memory: Memory, at: int) -> None:
    part = f"postgresql://admin:{SECRET}"
    said = "x " * ((at - len(part)) // 2) + f"{part}@db.example/x"
    audit = AuditMiddleware(memory)
    request = given()
    message = ToolMessage(said, tool_call_id="c1", status="error")
    audit.wrap_tool_call(request, lambda request: message)
    (call,) = calls_of_turn([AIMessage("", tool_calls=[request.tool_call]), message], "r", memory.registry)
    assert call.error == said  # only AuditTrail.record cuts it, after it masked it
    assert SECRET not in json.dumps([dict(row.metadata) for row in rows(memory)])


def test_a_call_that_a_person_rejects_is_denied_and_one_that_waits_is_not_there_yet(memory: Memory) -> None:
    audit = AuditMiddleware(memory, agent="netops", user="bob")
    agent = create_agent(
        ScriptedModel(script=[call("push_config", device="sw2"), "ok"]),
        tools=[push_config],
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"push_config": True}), audit],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    agent.invoke({"messages": [HumanMessage("push it")]}, config)
    assert rows(memory) == []
    agent.invoke(Command(resume={"decisions": [{"type": "reject"}]}), config)
    (row,) = rows(memory)
    assert (row.metadata["outcome"], row.metadata["user"]) == ("denied", "bob")


def test_a_second_turn_of_a_thread_writes_its_own_calls_only(memory: Memory) -> None:
    script = [call("show_version", device="a"), "done", call("show_version", device="b"), "done"]
    audit = AuditMiddleware(memory, user=lambda runtime: "carol")
    agent = create_agent(
        ScriptedModel(script=script), tools=[show_version], middleware=[audit], checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    for text in ("one", "two"):
        agent.invoke({"messages": [HumanMessage(text)]}, config)
    found = rows(memory)
    assert [row.metadata["args"]["device"] for row in found] == ["a", "b"]
    assert len({row.metadata["run"] for row in found}) == 2
    assert {row.metadata["user"] for row in found} == {"carol"}


def test_a_store_that_is_away_loses_no_row(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    away = [True]
    write = memory.write

    def failing(*args: Any, **options: Any) -> Any:
        if away.pop() if away else False:
            raise EmbedderUnavailableError("it is not there")
        return write(*args, **options)

    monkeypatch.setattr(memory, "write", failing)
    audit = run(memory, [call("show_version", device="a"), call("show_version", device="b")])
    assert audit.failures == 1
    assert "not there" in audit.last_error
    assert [row.metadata["args"]["device"] for row in rows(memory)] == ["a", "b"]


# --- the trail itself ---------------------------------------------------------------------------------


def test_a_row_is_never_changed_and_goes_only_with_purge(memory: Memory) -> None:
    trail = AuditTrail(memory)
    id = trail.record(user="alice", action="/netops_init", run="r1", call="c1")
    assert trail.record(user="mallory", action="/netops_init", outcome="denied", run="r1", call="c1") == id
    assert trail.get(id).metadata["user"] == "alice"
    with pytest.raises(RecordError, match="append-only"):
        memory.forget(id)
    memory.forget(id, purge=True)
    assert trail.rows() == []


def test_it_is_never_injected_whatever_the_query(memory: Memory) -> None:
    AuditTrail(memory).record(
        user="alice", action="push_config", agent="netops", error="boom", outcome="error"
    )
    for limit in (1, 2, 13):
        recall = memory.recall("user alice agent netops push_config error: boom", agent="netops", limit=limit)
        assert recall.items == ()


def test_retention_is_a_setting(tmp_path: Path, olav_clock: FakeClock) -> None:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        config = memory.workspace.config_path
    config.write_text(config.read_text("utf-8") + "\ncategories: {audit: {ttl_days: 30}}\n", "utf-8")
    with olav_core.open(tmp_path / "ws") as memory:
        trail = AuditTrail(memory)
        trail.record(user="alice", action="old")
        olav_clock.advance(timedelta(days=29))
        trail.record(user="alice", action="new")
        memory.optimize()
        assert len(trail.rows()) == 2
        olav_clock.advance(timedelta(days=2))
        memory.optimize()
        assert [row.metadata["action"] for row in trail.rows()] == ["new"]


def test_rows_are_found_by_who_what_how_and_when(memory: Memory) -> None:
    trail = AuditTrail(memory)
    day = datetime(2026, 4, 15, tzinfo=UTC)
    for n, (user, outcome) in enumerate([("alice", "success"), ("bob", "error"), ("alice", "error")]):
        trail.record(
            user=user, action="push", tool="push", outcome=outcome, run=f"r{n}", time=day + timedelta(days=n)
        )
    assert [row.metadata["run"] for row in trail.rows()] == ["r2", "r1", "r0"]
    assert [row.metadata["run"] for row in trail.rows(user="alice", outcome="error")] == ["r2"]
    assert [row.metadata["run"] for row in trail.rows(since=day + timedelta(days=1))] == ["r2", "r1"]
    assert [row.metadata["run"] for row in trail.rows(until=day + timedelta(days=1))] == ["r0"]
    assert len(trail.rows(limit=1)) == 1


def test_large_arguments_are_cut(memory: Memory) -> None:
    trail = AuditTrail(memory)
    id = trail.record(
        user="a", action="x", args={"file": "y" * 10**6, **{f"k{n}": "z" * 400 for n in range(50)}}
    )
    kept = trail.get(id).metadata["args"]
    assert len(json.dumps(kept)) < 6_000
    assert "1000000 characters" in kept["file"]
    assert "more" in kept["…"]


@pytest.fixture
def cli(memory: Memory) -> Callable[..., Any]:
    def run(*args: object) -> Any:
        line = ["--workspace", str(memory.workspace.root), *map(str, args), "--json"]
        result = CliRunner().invoke(main, line, prog_name="olav")
        assert result.exit_code == 0, (result.stdout, result.stderr, result.exception)
        return json.loads(result.stdout)

    return run


def test_the_commands(memory: Memory, cli: Callable[..., Any]) -> None:
    trail = AuditTrail(memory)
    id = trail.record(user="alice", action="/netops_init", time="2026-04-15T14:32:08Z")
    trail.record(user="bob", action="推送配置", outcome="denied")
    listed = cli("audit", "list", "--user", "alice")
    assert [(row["id"], row["time"], row["action"]) for row in listed["rows"]] == [
        (id, "2026-04-15T14:32:08+00:00", "/netops_init")
    ]
    assert cli("audit", "list", "--limit", 1)["more"] is True
    assert cli("audit", "show", id)["user"] == "alice"
    shown = CliRunner().invoke(main, ["-w", str(memory.workspace.root), "audit", "list"])
    assert "2026-04-15 14:32:08Z  user alice · /netops_init · success" in shown.stdout
    assert "user bob · 推送配置 · denied" in shown.stdout
    wrong = CliRunner().invoke(main, ["-w", str(memory.workspace.root), "audit", "list", "--since", "soon"])
    assert wrong.exit_code == 2


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened
