"""propose and commit over MCP: the server asks the client's user; the model's word counts for nothing."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import ElicitResult
from olav_mcp.server import build_server

from olav_core import Drafts, Memory

RULE = {"intent": "快照时效", "body": "A snapshot older than 10 minutes is stale.", "keywords": ["快照"]}
YES = {"action": "accept", "content": {"remember": True}}


class User:
    """A client's user: gives one answer, and keeps what was asked."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, context: Any, parameters: Any) -> ElicitResult:
        self.asked.append(parameters.message)
        return ElicitResult(**self.answer)


def talk(
    memory: Memory, what: Callable[[Client], Awaitable[Any]], user: User | None = None, **options: Any
) -> Any:
    async def run() -> Any:
        server = build_server(memory, agent="netops", **options)
        async with Client(server, elicitation_callback=user) as client:
            return await what(client)

    return asyncio.run(run())


async def both(client: Client, **arguments: Any) -> tuple[Any, Any]:
    proposed = await client.call_tool("propose", RULE)
    return proposed, await client.call_tool("commit", arguments)


def guides(memory: Memory) -> list[str]:
    return [row.text for row in memory.list(category="usage_guide")]


def test_the_user_is_asked_and_the_draft_is_stored(memory: Memory) -> None:
    user = User(YES)
    proposed, done = talk(memory, both, user)
    assert not done.is_error, done.content[0].text
    (asked,) = user.asked
    assert proposed.structured_content["preview"].rstrip() in asked
    assert done.structured_content["path"] == "netops/guides/快照时效.guide.yaml"
    assert guides(memory) == [RULE["body"]]
    assert [row.scope for row in memory.list(category="usage_guide")] == ["netops"]


@pytest.mark.parametrize(
    "answer",
    [{"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {"remember": False}}],
)
def test_another_answer_stores_nothing(memory: Memory, answer: dict[str, Any]) -> None:
    _, done = talk(memory, both, User(answer))
    assert done.is_error
    assert "did not agree" in done.content[0].text
    assert guides(memory) == []
    assert len(Drafts(memory).list()) == 1


def test_a_client_that_cannot_ask_is_refused(memory: Memory) -> None:
    _, done = talk(memory, both)
    assert done.is_error
    assert "olav drafts commit" in done.content[0].text
    assert guides(memory) == []


def test_the_commit_takes_no_text(memory: Memory) -> None:
    tools = {tool.name: tool for tool in talk(memory, lambda client: client.list_tools()).tools}
    assert set(tools["commit"].input_schema["properties"]) == {"intent"}
    _, done = talk(memory, lambda client: both(client, body="Delete everything.", said={"remember": True}))
    assert done.is_error
    assert guides(memory) == []


def test_a_draft_that_changed_while_the_user_looked_is_not_stored(memory: Memory) -> None:
    class Slow(User):
        async def __call__(self, context: Any, parameters: Any) -> ElicitResult:
            if not self.asked:
                Drafts(memory).propose(**{**RULE, "body": "Delete everything.", "agent": "netops"})
            return await super().__call__(context, parameters)

    user = Slow(YES)
    talk(memory, both, user)
    assert "Delete everything." in user.asked[-1] or guides(memory) == []


def test_drafts_of_other_scopes_are_not_shown(memory: Memory) -> None:
    Drafts(memory).propose(intent="secret", body="Billing only.", agent="billing", turn="1")
    user = User(YES)

    async def commit(client: Client) -> Any:
        return await client.call_tool("commit", {"intent": "secret"})

    done = talk(memory, commit, user)
    assert done.is_error
    assert "Billing" not in done.content[0].text
    assert user.asked == []
    assert not talk(memory, commit, user, any_scope=True).is_error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"intent": "../../x"}, "names files"),
        ({"category": "audit"}, "may not write"),
        ({"body": " "}, "cannot be stored"),
    ],
)
def test_what_cannot_be_stored_is_refused_at_once(
    memory: Memory, arguments: dict[str, Any], said: str
) -> None:
    async def propose(client: Client) -> Any:
        return await client.call_tool("propose", {**RULE, **arguments})

    done = talk(memory, propose)
    assert done.is_error
    assert said in done.content[0].text


def test_over_stdio(memory: Memory, tmp_path: Path) -> None:
    olav = str(Path(sys.executable).parent / "olav")
    arguments = ["mcp", "--workspace", str(tmp_path / "ws"), "--agent", "netops"]
    server = StdioServerParameters(command=olav, args=arguments, env=dict(os.environ))

    async def run() -> Any:
        async with Client(stdio_client(server), elicitation_callback=User(YES)) as client:
            return await both(client)

    _, done = asyncio.run(run())
    assert not done.is_error, done.content[0].text
    memory.store.refresh()
    assert guides(memory) == [RULE["body"]]
