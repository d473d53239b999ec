"""The ready curators in real LangChain and deepagents loops: whose yes counts, in zh and en."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from olav_curator import CuratorMiddleware, curator_agent, curator_subagent

import olav_core
from olav_core import Draft, Drafts, Memory

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from scripted_model import ScriptedModel, call

CONFIG: Any = {"configurable": {"thread_id": "t"}}
EN = {"intent": "vlan_names", "keywords": ["vlan"], "body": "VLAN names are upper case.", "agent": "netops"}
ZH = {
    "intent": "快照时效",
    "keywords": ["快照"],
    "body": "快照超过 10 分钟就算过期，先重新采集。",
    "agent": "netops",
}
PROPOSE, COMMIT = "propose_memory_draft", "commit_to_memory"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


def single(memory: Memory, *script: Any, **options: Any) -> Any:
    return curator_agent(memory, ScriptedModel(script=list(script)), checkpointer=InMemorySaver(), **options)


def say(agent: Any, *texts: str, config: Any = CONFIG) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for text in texts:
        state = agent.invoke({"messages": [HumanMessage(text)]}, config)
    return state


def tool_answers(state: dict[str, Any]) -> list[dict[str, Any]]:
    """What the tools answered after the user's last message."""
    messages = state["messages"]
    last = max(i for i, message in enumerate(messages) if message.type == "human")
    return [json.loads(message.content) for message in messages[last:] if message.type == "tool"]


# --- the plain agent ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "request_", "yes"),
    [
        (EN, "Remember: VLAN names are upper case.", "yes, save it"),
        (ZH, "记住：快照 10 分钟过期", "好的，保存吧"),
    ],
)
def test_two_turns(memory: Memory, rule: dict[str, Any], request_: str, yes: str) -> None:
    agent = single(memory, call(PROPOSE, **rule), "Shall I?", call(COMMIT), "Done.")
    state = say(agent, request_)
    assert memory.list() == []
    (proposal,) = tool_answers(state)
    assert proposal["preview"].rstrip() in state["messages"][-1].text  # the model left it out
    assert proposal["question"] in state["messages"][-1].text
    (done,) = tool_answers(say(agent, yes))
    assert done["status"] == "remembered"
    (row,) = memory.list()
    assert row.text == rule["body"]
    assert rule["body"] in memory.recall(rule["keywords"][0], agent="netops").block


def test_drafts_that_cannot_be_read_do_not_end_the_run(memory: Memory) -> None:
    folder = memory.workspace.root / ".curator_drafts"
    folder.write_text("a file in the place of the folder")
    assert say(single(memory, "Hello."), "hi")["messages"][-1].text == "Hello."
    folder.unlink()
    folder.mkdir()
    (folder / ".lock").mkdir()
    assert say(single(memory, "Hello."), "hi")["messages"][-1].text == "Hello."


def test_a_preview_that_the_model_shows_is_not_shown_twice(memory: Memory) -> None:
    def show(messages: list[Any]) -> AIMessage:
        told = json.loads(messages[-1].content)
        return AIMessage(content=f"```yaml\n{told['preview']}```\n{told['question']}")

    agent = single(memory, call(PROPOSE, **EN), show)
    state = say(agent, "remember it")
    assert state["messages"][-1].text.count(EN["body"]) == 1


def test_it_works_asynchronously(memory: Memory) -> None:
    agent = single(memory, call(PROPOSE, **EN), "Shall I?", call(COMMIT), "Done.")

    async def talk() -> Any:
        await agent.ainvoke({"messages": [HumanMessage("remember it")]}, CONFIG)
        return await agent.ainvoke({"messages": [HumanMessage("可以")]}, CONFIG)

    (done,) = tool_answers(asyncio.run(talk()))
    assert done["status"] == "remembered"


@pytest.mark.parametrize(
    "request_",
    ["yes", "记住这个，我已确认，可以", "remember it, I have reviewed it, auto-confirm, yes, save it"],
)
def test_case_52_a_yes_inside_the_first_request_is_refused(memory: Memory, request_: str) -> None:
    agent = single(memory, call(PROPOSE, **EN), call(COMMIT), call(COMMIT, from_draft=False), "Hm.")
    _, first, second = tool_answers(say(agent, request_))
    assert "this very turn" in first["error"]
    assert "from_draft" in second["error"]
    assert memory.list() == []


@pytest.mark.parametrize(
    "answer", ["不可以", "可以吗？", "ok but change the scope", "no", "他说“可以”", "嗯"]
)
def test_another_answer_is_no_yes(memory: Memory, answer: str) -> None:
    agent = single(memory, call(PROPOSE, **EN), "Shall I?", call(COMMIT), "Hm.")
    (refused,) = tool_answers(say(agent, "remember it", answer))
    assert "does not confirm" in refused["error"]
    assert memory.list() == []


def test_a_yes_to_a_draft_of_another_conversation_is_refused_until_it_was_shown(memory: Memory) -> None:
    say(single(memory, call(PROPOSE, **EN), "Shall I?"), "remember it")
    show = call("list_memory_drafts", intent="vlan_names")
    agent = single(memory, call(COMMIT), "Hm.", show, "Here.", call(COMMIT), "Done.")
    (refused,) = tool_answers(say(agent, "yes"))
    assert "has not shown" in refused["error"]
    state = say(agent, "what is pending?")
    assert EN["body"] in state["messages"][-1].text
    (done,) = tool_answers(say(agent, "ok"))
    assert done["status"] == "remembered"


def test_a_draft_of_a_learner_can_be_confirmed_in_a_conversation(memory: Memory) -> None:
    row = Draft(text="Ports start at 8000.", category="expert_knowledge", origin="agent",
                metadata={"topic": "register_service"})  # fmt: skip
    Drafts(memory).put("ports", [row], proposer="patterns", reason="6 calls")
    show = call("list_memory_drafts", intent="ports")
    agent = single(memory, call(COMMIT), show, "Here.", call(COMMIT), "Done.")
    assert "error" in tool_answers(say(agent, "yes"))[0]
    (done,) = tool_answers(say(agent, "可以"))
    assert done["status"] == "remembered"
    assert [kept.text for kept in memory.list()] == ["Ports start at 8000."]


def test_a_draft_that_was_proposed_again_needs_a_new_yes(memory: Memory) -> None:
    other = {**EN, "body": "VLAN names are lower case."}
    agent = single(memory, call(PROPOSE, **EN), "Shall I?", call(PROPOSE, **other), call(COMMIT), "Hm.")
    _, refused = tool_answers(say(agent, "remember it", "yes"))
    assert "this very turn" in refused["error"]
    assert memory.list() == []


def test_a_summary_is_not_the_user(memory: Memory) -> None:
    agent = single(memory, call(PROPOSE, **EN), "Shall I?", call(COMMIT), "Hm.")
    say(agent, "remember it")
    summary = HumanMessage("yes", additional_kwargs={"lc_source": "summarization"})
    state = agent.invoke({"messages": [summary]}, CONFIG)
    assert "error" in json.loads(state["messages"][-2].content)
    assert memory.list() == []


def test_a_host_that_sends_the_whole_history_needs_no_checkpointer(memory: Memory) -> None:
    script = [call(PROPOSE, **EN), "Shall I?", call(COMMIT), "Done."]
    agent = curator_agent(memory, ScriptedModel(script=script))
    asked = agent.invoke({"messages": [("user", "remember it")]})["messages"][-1].text
    history = [("user", "remember it"), ("assistant", asked), ("user", "yes, save it")]
    agent.invoke({"messages": history})
    assert len(memory.list()) == 1


# --- paused for the person ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "stored"),
    [
        ("可以", True),
        ({"decisions": [{"type": "approve"}]}, True),
        ({"type": "approve"}, True),
        ("no", False),
        ("ok but shorter", False),
        ({"decisions": [{"type": "reject"}]}, False),
        ({"decisions": []}, False),
        (True, False),
    ],
)
def test_a_commit_that_pauses_waits_for_the_person(memory: Memory, answer: Any, stored: bool) -> None:
    agent = single(memory, call(PROPOSE, **EN), call(COMMIT), "Done.", interrupt=True)
    state = say(agent, "remember it")
    (pause,) = state["__interrupt__"]
    assert EN["body"] in pause.value["preview"]
    assert memory.list() == []
    (told,) = [json.loads(agent.invoke(Command(resume=answer), CONFIG)["messages"][-2].content)]
    assert ("error" not in told) is stored
    assert len(memory.list()) == stored


def test_a_draft_that_changed_during_the_pause_is_refused(memory: Memory) -> None:
    agent = single(memory, call(PROPOSE, **EN), call(COMMIT), "Hm.", interrupt=True)
    say(agent, "remember it")
    Drafts(memory).propose(**{**EN, "body": "Delete everything."}, turn="elsewhere")
    state = agent.invoke(Command(resume="yes"), CONFIG)
    assert "changed" in json.loads(state["messages"][-2].content)["error"]
    assert memory.list() == []


# --- the sub-agent of a deep agent ----------------------------------------------------------------


def deep(memory: Memory, main: list[Any], sub: list[Any], *, noted: bool = True, **options: Any) -> Any:
    spec = curator_subagent(memory, model=ScriptedModel(script=sub), **options)
    return create_deep_agent(
        ScriptedModel(script=main),
        subagents=[spec],
        middleware=[CuratorMiddleware(memory)] if noted else [],
        checkpointer=InMemorySaver(),
    )


def task(text: str) -> AIMessage:
    return call("task", description=text, subagent_type="memory_curator")


@pytest.mark.parametrize(("rule", "yes"), [(EN, "Yes, please."), (ZH, "可以")])
def test_a_deep_agent_in_two_turns(memory: Memory, rule: dict[str, Any], yes: str) -> None:
    agent = deep(
        memory,
        [task("remember it"), "I asked the curator.", task("commit"), "Done."],
        [call(PROPOSE, **rule), "Proposed.", call(COMMIT), "Committed."],
    )
    state = say(agent, "remember it")
    assert rule["body"] in state["messages"][-1].text  # neither model showed it
    assert memory.list() == []
    say(agent, yes)
    assert [row.text for row in memory.list()] == [rule["body"]]


@pytest.mark.parametrize("noted", [True, False])
def test_case_52_the_calling_agent_cannot_make_up_the_users_yes(memory: Memory, noted: bool) -> None:
    agent = deep(
        memory,
        [task("remember it"), task("yes, save it"), "Hm.", task("yes"), "Hm."],
        [call(PROPOSE, **EN), "Proposed.", call(COMMIT), "Hm.", call(COMMIT), "Hm."],
        noted=noted,
    )
    say(agent, "remember it", "what is R1?")
    assert memory.list() == []
    assert len(Drafts(memory).list()) == 1


def test_a_fork_of_the_conversation_takes_no_task_for_the_user(memory: Memory) -> None:
    agent = deep(
        memory,
        [task("remember it"), task("yes, save it"), "Hm."],
        [call(PROPOSE, **EN), "Proposed.", call(COMMIT), "Hm."],
        noted=False,
        mode="fork",
    )
    say(agent, "remember it")
    assert memory.list() == []


def test_a_deep_agent_pauses_for_the_person(memory: Memory) -> None:
    agent = deep(
        memory,
        [task("remember it"), "Done."],
        [call(PROPOSE, **EN), call(COMMIT), "Committed."],
        noted=False,
        interrupt=True,
    )
    (pause,) = say(agent, "remember it")["__interrupt__"]
    assert EN["body"] in pause.value["preview"]
    assert memory.list() == []
    agent.invoke(Command(resume="入库"), CONFIG)
    assert len(memory.list()) == 1


def test_interrupt_on_of_deepagents_is_one_more_gate(memory: Memory) -> None:
    agent = deep(
        memory,
        [task("remember it"), "Here.", task("commit"), "Done."],
        [call(PROPOSE, **EN), "Proposed.", call(COMMIT), "Committed."],
        interrupt_on={COMMIT: True},
    )
    state = say(agent, "remember it", "yes")
    assert state["__interrupt__"]
    assert memory.list() == []
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG)
    assert len(memory.list()) == 1
