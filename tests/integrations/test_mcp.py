"""`olav mcp` through the real client: in memory, over stdio, over HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from olav_mcp.server import build_server

import olav_core
from olav_core import Memory, RecordError

OLAV = str(Path(sys.executable).parent / "olav")


def talk(memory: Memory, what: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        async with Client(build_server(memory, agent="netops", **options)) as client:
            return await what(client)

    return asyncio.run(run())


def answer(memory: Memory, tool: str, arguments: dict[str, Any], **options: Any) -> dict[str, Any]:
    result = talk(memory, lambda client: client.call_tool(tool, arguments), **options)
    assert not result.is_error, result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content
    return dict(result.structured_content)


def refusal(memory: Memory, tool: str, arguments: dict[str, Any], **options: Any) -> str:
    result = talk(memory, lambda client: client.call_tool(tool, arguments), **options)
    assert result.is_error
    return str(result.content[0].text)


def id_of(memory: Memory, words: str) -> str:
    (found,) = [record for record in memory.list() if words in record.text]
    return found.id


def test_the_tools_and_their_manners(memory: Memory) -> None:
    tools = {tool.name: tool for tool in talk(memory, lambda client: client.list_tools()).tools}
    assert set(tools) == {"recall", "remember", "why", "forget", "propose", "commit"}
    assert all(tool.output_schema and tool.description for tool in tools.values())
    assert tools["recall"].annotations.read_only_hint
    assert tools["forget"].annotations.destructive_hint
    assert "usage_guide" in tools["recall"].description
    reading = talk(memory, lambda client: client.list_tools(), read_only=True).tools
    assert {tool.name for tool in reading} == {"recall", "why"}


def test_recall_gives_structured_memories_of_the_servers_scopes(memory: Memory) -> None:
    found = answer(memory, "recall", {"query": "What is the loopback of router R1?"})
    assert found["scopes"] == ["netops", "global"]
    assert found["degraded"] == []
    assert "10.255.0.1" in found["memories"][0]["text"]
    assert found["memories"][0]["untrusted"] is False
    everything = answer(
        memory, "recall", {"query": "invoices of tenant acme", "category": "fact", "limit": 50}
    )
    assert {memory["scope"] for memory in everything["memories"]} == {"netops", "global"}


def test_scopes_are_fixed_unless_the_operator_says_otherwise(memory: Memory) -> None:
    ask = {"query": "invoices of tenant acme", "scopes": ["billing"]}
    billing = id_of(memory, "AC-1000")
    assert "does not show scope billing" in refusal(memory, "recall", ask)
    for tool, arguments in (("why", {"id": billing, "query": "acme"}), ("forget", {"id": billing})):
        said = refusal(memory, tool, arguments)
        assert "There is no memory" in said
        assert "AC-1000" not in said

    async def read(client: Client) -> None:
        with pytest.raises(MCPError, match="no memory"):
            await client.read_resource(f"olav://memory/{billing}")

    talk(memory, read)
    assert answer(memory, "recall", ask, extra_scopes=["billing"])["memories"]
    assert answer(memory, "recall", ask, any_scope=True)["memories"]
    with pytest.raises(RecordError):
        build_server(memory, agent=" ")


def test_remember_writes_into_the_agents_scope_once(memory: Memory) -> None:
    kept = answer(memory, "remember", {"text": "R2 has loopback 10.255.0.2", "tags": ["r2"]})
    assert (kept["scope"], kept["status"]) == ("netops", "remembered")
    assert (
        answer(memory, "remember", {"text": "R2 has loopback 10.255.0.2", "tags": ["r2"]})["status"]
        == "known"
    )
    assert memory.get(kept["id"]).origin == "agent"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("remember", {"text": "x", "category": "facts"}, "Known: audit"),
        ("remember", {"text": "x", "category": "usage_guide"}, "origin 'agent' may not write"),
        ("remember", {"text": "  "}, "blank"),
        ("recall", {"query": "x", "category": "nope"}, "no category 'nope'"),
        ("recall", {"query": "x", "limit": 0}, "greater than or equal to 1"),
        ("recall", {}, "query"),
        ("why", {"id": "fact:0", "query": "x"}, "There is no memory"),
        ("nothing", {}, "nothing"),
    ],
)
def test_errors_can_be_read(memory: Memory, tool: str, arguments: dict[str, Any], said: str) -> None:
    try:
        text = refusal(memory, tool, arguments)
    except MCPError as error:
        text = str(error)
    assert said in text


def test_an_unforeseen_error_tells_nothing_of_itself(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("password is hunter2")

    monkeypatch.setattr(memory, "recall", fail)
    assert "hunter2" not in refusal(memory, "recall", {"query": "x"})


def test_why_explains(memory: Memory) -> None:
    loopback = id_of(memory, "10.255.0.1")
    told = answer(memory, "why", {"id": loopback[:12], "query": "loopback of router R1"})
    assert told["id"] == loopback
    assert told["decision"] == "injected"
    assert told["trace"]["leg_ranks"]["bm25"] == 1


def test_forgetting_takes_two_steps(memory: Memory) -> None:
    loopback, windows = id_of(memory, "10.255.0.1"), id_of(memory, "Tuesday")

    async def steps(client: Client) -> list[Any]:
        first = await client.call_tool("forget", {"id": loopback})
        code = first.structured_content["confirm"]
        wrong = await client.call_tool("forget", {"id": loopback, "confirm": "00000000"})
        other = await client.call_tool("forget", {"id": windows, "confirm": code})
        spent = await client.call_tool("forget", {"id": loopback, "confirm": code})
        again = await client.call_tool("forget", {"id": loopback})
        done = await client.call_tool(
            "forget", {"id": loopback, "confirm": again.structured_content["confirm"]}
        )
        return [first, wrong, other, spent, done]

    first, wrong, other, spent, done = talk(memory, steps)
    assert first.structured_content["status"] == "confirm"
    assert "10.255.0.1" in first.structured_content["memory"]["text"]
    assert all(result.is_error for result in (wrong, other, spent))
    assert done.structured_content["status"] == "forgotten"
    remaining = [record.text for record in memory.list()]
    assert not any("10.255.0.1" in text for text in remaining)
    assert any("Tuesday" in text for text in remaining)


def test_resources(memory: Memory) -> None:
    memory.remember(
        "Call take_snapshot first.",
        category="usage_guide",
        origin="directive",
        scope="netops",
        metadata={"intent": "snapshot_first", "agent": "netops", "keywords": ["snapshot"]},
    )

    async def read(client: Client) -> list[Any]:
        categories = (await client.read_resource("olav://categories")).contents[0].text
        guides = json.loads((await client.read_resource("olav://guides")).contents[0].text)
        text = (await client.read_resource(guides[0]["uri"])).contents[0].text
        return [json.loads(categories), guides, text]

    categories, guides, text = talk(memory, read)
    assert {"usage_guide", "fact", "reflection"} <= {category["id"] for category in categories}
    assert guides[0]["intent"] == "snapshot_first"
    assert "take_snapshot" in text


def test_over_stdio(memory: Memory, tmp_path: Path) -> None:
    arguments = ["mcp", "--workspace", str(tmp_path / "ws"), "--agent", "netops"]
    server = StdioServerParameters(command=OLAV, args=arguments, env=dict(os.environ))

    async def run() -> Any:
        async with Client(stdio_client(server)) as client:
            await client.call_tool("remember", {"text": "R4 是核心路由器"})
            return await client.call_tool("recall", {"query": "核心路由器是哪台?"})

    found = asyncio.run(run()).structured_content
    assert "R4" in found["memories"][0]["text"]
    assert memory.recall("核心路由器", agent="netops").items  # another process sees it


def test_over_http_on_loopback(memory: Memory, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [OLAV, "mcp", "-w", str(tmp_path / "ws"), "--agent", "netops", "--http", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, "the server ended"
            time.sleep(0.1)

        async def run() -> Any:
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                return await client.call_tool("recall", {"query": "loopback of router R1"})

        assert "10.255.0.1" in asyncio.run(run()).structured_content["memories"][0]["text"]
    finally:
        server.terminate()
        server.wait(20)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org", "::"])
def test_only_loopback_is_served(memory: Memory, tmp_path: Path, host: str) -> None:
    from click.testing import CliRunner
    from olav_mcp.command import mcp

    result = CliRunner().invoke(mcp, ["-w", str(tmp_path / "ws"), "--http", "--host", host])
    assert isinstance(result.exception, olav_core.ConfigError)
    assert "loopback" in str(result.exception)
