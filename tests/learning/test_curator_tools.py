"""The curator's tools in real LangChain loops: the user's yes is looked for in the run's own messages."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from olav_curator.tools import PROMPT, curator_tools
from olav_curator.word import MESSAGE_KEY, TURN_KEY

import olav_core
from olav_core import Memory

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from scripted_model import ScriptedModel, call

RULE = {"intent": "vlan_names", "keywords": ["vlan"], "body": "VLAN names are upper case.", "agent": "netops"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


def agent_of(memory: Memory, *script: Any, saver: Any = None) -> Any:
    model = ScriptedModel(script=list(script))
    return create_agent(model, tools=curator_tools(memory), system_prompt=PROMPT, checkpointer=saver)


def ask(agent: Any, text: str, **configurable: str) -> list[dict[str, Any]]:
    """Send a user's message; return what the tools answered in this turn."""
    config = {"configurable": {"thread_id": "t", **configurable}}
    messages = agent.invoke({"messages": [{"role": "user", "content": text}]}, config)["messages"]
    last = max(i for i, message in enumerate(messages) if message.type == "human")
    return [json.loads(message.content) for message in messages[last:] if message.type == "tool"]


def test_two_turns(memory: Memory) -> None:
    agent = agent_of(
        memory, call("propose_memory_draft", **RULE), "Confirm?", call("commit_to_memory"), "Done.",
        saver=InMemorySaver(),
    )  # fmt: skip
    (proposal,) = ask(agent, "remember that VLAN names are upper case")
    assert "VLAN names are upper case." in proposal["preview"]
    assert memory.list() == []
    (done,) = ask(agent, "可以")
    assert done["status"] == "remembered"
    assert [row.text for row in memory.list()] == ["VLAN names are upper case."]


@pytest.mark.parametrize("answer", ["no, wait", "yes, but in lower case", "what does it say?"])
def test_another_answer_is_no_yes(memory: Memory, answer: str) -> None:
    agent = agent_of(
        memory, call("propose_memory_draft", **RULE), "Confirm?", call("commit_to_memory"), "Hm.",
        saver=InMemorySaver(),
    )  # fmt: skip
    ask(agent, "remember it")
    (refused,) = ask(agent, answer)
    assert "does not confirm" in refused["error"]
    assert memory.list() == []


def test_a_commit_in_the_turn_of_the_proposal_is_refused(memory: Memory) -> None:
    agent = agent_of(memory, call("propose_memory_draft", **RULE), call("commit_to_memory"), "Hm.")
    _, refused = ask(agent, "yes")
    assert "this very turn" in refused["error"]
    assert memory.list() == []


def test_a_stateless_sub_agent_cannot_make_up_the_users_yes(memory: Memory) -> None:
    ask(agent_of(memory, call("propose_memory_draft", **RULE), "Confirm?"), "remember it")
    (refused,) = ask(agent_of(memory, call("commit_to_memory"), "Hm."), "yes")  # as the parent wrote it
    assert "this very turn" in refused["error"]
    assert memory.list() == []


def test_a_host_tells_a_sub_agent_the_users_words(memory: Memory) -> None:
    propose, commit = call("propose_memory_draft", **RULE), call("commit_to_memory")
    ask(agent_of(memory, propose, "Confirm?"), "remember it", **{TURN_KEY: "1", MESSAGE_KEY: "remember it"})
    (refused,) = ask(agent_of(memory, commit, "Hm."), "yes", **{TURN_KEY: "1", MESSAGE_KEY: "yes"})
    assert "this very turn" in refused["error"]
    (done,) = ask(agent_of(memory, commit, "Done."), "commit it", **{TURN_KEY: "2", MESSAGE_KEY: "好的"})
    assert done["status"] == "remembered"


def test_the_commit_takes_no_body(memory: Memory) -> None:
    names = {tool.name: set(tool.args) for tool in curator_tools(memory)}
    assert names["commit_to_memory"] <= {"from_draft", "intent", "runtime"}
    assert set(names) == {
        "propose_memory_draft",
        "commit_to_memory",
        "reject_memory_draft",
        "list_memory_drafts",
    }
