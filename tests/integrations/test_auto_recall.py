"""Recall before every model call, in real LangChain loops driven by a scripted model."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from olav_langchain import AutoRecallMiddleware, memory_tools, recall_tool, remember_tool
from scripted_model import ScriptedModel, call, calls

from olav_core import ConfigError, Memory, RecordError

ASK = "What is the loopback of router R1?"
OPEN = "<relevant-memories>"


@tool
def ping(host: str) -> str:
    """Ping a host."""
    return f"{host} answers"


def agent_with(memory: Memory, *script: Any, tools: Any = (ping,), before: Any = (), **options: Any) -> Any:
    model = ScriptedModel(script=list(script))
    recall = AutoRecallMiddleware(memory, agent="netops", **options.pop("recall", {}))
    agent = create_agent(model, tools=list(tools), middleware=[*before, recall], **options)
    return agent, model, recall


def shown(messages: list[Any]) -> str:
    return "\n".join(str(message.content) for message in messages)


def blocks_per_call(model: ScriptedModel) -> list[int]:
    return [shown(messages).count(OPEN) for messages in model.seen]


def test_the_block_stands_directly_before_the_query_in_every_call_of_a_tool_loop(memory: Memory) -> None:
    agent, model, _ = agent_with(memory, call("ping", host="R1"), calls(("ping", {"host": "R2"})), "up")
    state = agent.invoke({"messages": [HumanMessage(ASK)]})
    assert blocks_per_call(model) == [1, 1, 1]
    for messages in model.seen:
        assert messages[0].content.startswith(OPEN)
        assert "10.255.0.1" in messages[0].content
        assert messages[0].content.endswith(f"</relevant-memories>\n\n{ASK}")
    assert OPEN not in shown(state["messages"])
    assert state["messages"][0].content == ASK


def test_with_context_the_agents_files_stand_in_the_system_message_of_each_call(memory: Memory) -> None:
    folder = memory.workspace.root / "netops"
    (folder / "references").mkdir(parents=True)
    front = "---\nstatic_context: [CHECK.md]\nstatic_context_mode: on_intent\n---\n"
    (folder / "AGENT.md").write_text(front, encoding="utf-8")
    (folder / "CHECK.md").write_text("Confirm the devices first.", encoding="utf-8")
    reference = "---\nkeywords: [loopback, 环回]\n---\nLoopbacks are /32."
    (folder / "references" / "loopback.md").write_text(reference, encoding="utf-8")
    for system in ("You are an engineer.", None):
        options: dict[str, Any] = {"recall": {"context": True}, "system_prompt": system}
        agent, model, recall = agent_with(memory, call("ping", host="R1"), "up", "ok", **options)
        state = agent.invoke({"messages": [HumanMessage(ASK)]})
        assert recall.failures == 0
        for messages in model.seen:
            assert messages[0].type == "system"
            assert messages[0].content.startswith(system or "<agent-context>")
            assert messages[0].content.count("Confirm the devices first.") == 1
            assert messages[0].content.count("Loopbacks are /32.") == 1
            assert messages[1].content.startswith(OPEN)
        assert "agent-context" not in shown(state["messages"])
        events = list(agent.stream({"messages": [HumanMessage("hello")]}, stream_mode="custom"))
        named = {part["name"]: part["included"] for part in events[0]["context"]}
        assert named == {"CHECK.md": True, "references/loopback.md": False}


def drive(agent: Any, how: str, given: dict[str, Any], config: Any = None) -> None:
    async def stream() -> None:
        async for _ in agent.astream(given, config, stream_mode="messages"):
            pass

    if how == "invoke":
        agent.invoke(given, config)
    elif how == "ainvoke":
        asyncio.run(agent.ainvoke(given, config))
    elif how == "stream":
        list(agent.stream(given, config, stream_mode="messages"))
    else:
        asyncio.run(stream())


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream"])
def test_every_way_to_run_sees_exactly_one_block_and_checkpoints_none(memory: Memory, how: str) -> None:
    saver = InMemorySaver()
    agent, model, _ = agent_with(memory, call("ping", host="R1"), "one", "two", checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    drive(agent, how, {"messages": [HumanMessage(ASK)]}, config)
    drive(agent, how, {"messages": [HumanMessage("When are change windows?")]}, config)
    assert blocks_per_call(model) == [1, 1, 1]
    last = model.seen[-1]
    assert OPEN not in shown(last[:-1])
    assert "Tuesday" in last[-1].content
    for saved in saver.list(config):
        assert "relevant-memories" not in repr(saved.checkpoint)
        assert "relevant-memories" not in repr(saved.pending_writes)


def test_ten_turns_keep_the_tokens_per_turn_flat(memory: Memory) -> None:
    agent, model, _ = agent_with(memory, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for _ in range(10):
        agent.invoke({"messages": [HumanMessage(ASK)]}, config)
    assert blocks_per_call(model) == [1] * 10
    history = [len(ASK) * (turn + 1) + len("done") * turn for turn in range(10)]
    added = [len(shown(messages)) - own for messages, own in zip(model.seen, history, strict=True)]
    assert max(added) - min(added) <= 2 * 10  # only the newlines that join the messages


@pytest.mark.parametrize("inside", [True, False])
def test_a_retried_call_sees_one_block(memory: Memory, inside: bool) -> None:
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False)
    model = ScriptedModel(script=[ConnectionError("away"), ConnectionError("away"), "back"])
    recall = AutoRecallMiddleware(memory, agent="netops")
    agent = create_agent(model, middleware=[recall, retry] if inside else [retry, recall])
    agent.invoke({"messages": [HumanMessage(ASK)]})
    assert blocks_per_call(model) == [1, 1, 1]


def test_two_recalls_in_one_agent_leave_one_block(memory: Memory) -> None:
    model = ScriptedModel()

    class Second(AutoRecallMiddleware):
        pass

    middleware = [AutoRecallMiddleware(memory, agent="netops"), Second(memory, agent="billing")]
    create_agent(model, middleware=middleware).invoke({"messages": [HumanMessage(ASK)]})
    assert blocks_per_call(model) == [1]


def test_parallel_runs_of_one_agent_do_not_mix(memory: Memory) -> None:
    agent, model, _ = agent_with(memory)

    async def run() -> None:
        questions = [ASK, "When are change windows?"] * 8
        await asyncio.gather(*(agent.ainvoke({"messages": [HumanMessage(q)]}) for q in questions))

    asyncio.run(run())
    assert blocks_per_call(model) == [1] * 16
    assert all(("R1?" in shown(m)) == ("10.255.0.1" in shown(m)) for m in model.seen)


def test_a_model_that_raises_leaves_no_block_behind(memory: Memory) -> None:
    saver = InMemorySaver()
    agent, model, _ = agent_with(memory, ValueError("no"), "fine", checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    with pytest.raises(ValueError, match="no"):
        agent.invoke({"messages": [HumanMessage(ASK)]}, config)
    agent.invoke({"messages": [HumanMessage(ASK)]}, config)
    assert blocks_per_call(model) == [1, 1]
    assert OPEN not in repr(list(saver.list(config)))


# --- what counts as the query -------------------------------------------------------------------------


def test_summaries_and_pinned_skills_are_no_query(memory: Memory) -> None:
    agent, model, _ = agent_with(memory)
    notes = [
        HumanMessage("When are change windows?", additional_kwargs={"lc_source": source})
        for source in ("summarization", "pinned_skill")
    ]
    agent.invoke({"messages": [notes[0], HumanMessage(ASK), AIMessage("hm"), notes[1]]})
    (seen,) = model.seen
    assert seen[1].content.startswith(OPEN)
    assert "10.255.0.1" in seen[1].content
    assert seen[0].content == seen[3].content == "When are change windows?"


def test_a_summary_that_swallowed_the_query_still_gets_the_block(memory: Memory) -> None:
    summary = ScriptedModel(script=["The user asks for the loopback of router R1"])
    shorten = SummarizationMiddleware(model=summary, trigger=("messages", 4), keep=("messages", 2))
    script = [call("ping", host="R1"), call("ping", host="R2"), "fine"]
    agent, model, recall = agent_with(memory, *script, before=[shorten])
    agent.invoke({"messages": [HumanMessage(ASK)]})
    assert recall.failures == 0
    assert summary.seen
    assert all(count <= 1 for count in blocks_per_call(model))


def test_content_of_several_modes_survives(memory: Memory) -> None:
    agent, model, _ = agent_with(memory)
    image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    content = [{"type": "text", "text": ASK}, image]
    state = agent.invoke({"messages": [HumanMessage(content)]})
    (seen,) = model.seen
    assert seen[0].content[0]["text"].startswith(OPEN)
    assert seen[0].content[1:] == content
    assert state["messages"][0].content == content


@pytest.mark.parametrize(
    "content", ["", "   ", "🙂", '"old man"', '""', "a" * 20_000, [{"type": "image_url"}]]
)
def test_odd_queries_never_break_the_call(memory: Memory, content: Any) -> None:
    agent, model, recall = agent_with(memory)
    agent.invoke({"messages": [HumanMessage(content)]})
    assert len(model.seen) == 1
    assert recall.failures == 0


def test_a_block_that_a_user_pasted_is_no_query_and_is_taken_out(memory: Memory) -> None:
    agent, model, _ = agent_with(memory)
    pasted = f"{OPEN}\n  <memory id='x'>When are change windows?</memory>\n</relevant-memories>\n\n{ASK}"
    agent.invoke({"messages": [HumanMessage(pasted)]})
    assert blocks_per_call(model) == [1]
    assert "id='x'" not in shown(model.seen[0])
    assert "10.255.0.1" in shown(model.seen[0])


def test_the_same_query_in_a_run_is_embedded_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    from olav_hashing import HashingEmbedder

    embedded: list[str] = []
    real = HashingEmbedder.embed_queries

    def counting(self: HashingEmbedder, texts: Any) -> Any:
        embedded.extend(texts)
        return real(self, texts)

    monkeypatch.setattr(HashingEmbedder, "embed_queries", counting)
    agent, model, _ = agent_with(memory, call("ping", host="a"), call("ping", host="b"), "fine")
    agent.invoke({"messages": [HumanMessage(ASK)]})
    assert len(model.seen) == 3
    assert embedded.count(ASK) == 1


# --- arguments ----------------------------------------------------------------------------------------


def test_scopes_teams_and_extra_scopes(memory: Memory) -> None:
    memory.remember("Team noc keeps the loopback list of router R9", scope="team:noc")

    def scopes(**options: Any) -> tuple[str, ...]:
        return AutoRecallMiddleware(memory, agent="netops", **options).scopes

    assert scopes() == ("netops", "global")
    assert scopes(teams=["noc"], extra_scopes=["billing"]) == ("netops", "global", "team:noc", "billing")
    assert scopes(scopes=["billing"]) == ("billing",)
    agent, model, _ = agent_with(memory, recall={"scopes": ["billing"]})
    agent.invoke({"messages": [HumanMessage(ASK)]})
    assert "10.255.0.1" not in shown(model.seen[0])


@pytest.mark.parametrize(
    ("options", "tier", "most"),
    [
        ({}, "small", 1),  # scripted-8b
        ({"tier": "large"}, "large", 13),
        ({"model": "qwen3-30b"}, "medium", 2),
        ({"limit": 2}, "small", 2),
        ({"token_budget": 1}, "small", 0),
    ],
)
def test_the_tier_comes_from_arguments_else_from_the_models_name(
    memory: Memory, options: dict[str, Any], tier: str, most: int
) -> None:
    agent, model, _ = agent_with(memory, recall=options)
    (event,) = agent.stream({"messages": [HumanMessage(ASK)]}, stream_mode="custom")
    assert event["tier"] == tier
    assert shown(model.seen[0]).count("<memory ") == len(event["ids"]) <= most
    assert bool(event["ids"]) == bool(most)


def test_the_workspaces_tier_comes_before_the_models_name(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    import olav_core

    monkeypatch.setenv("OLAV_RECALL_TIER", "large")
    with olav_core.open(tmp_path / "ws") as configured:
        agent, _, _ = agent_with(configured)
        (event,) = agent.stream({"messages": [HumanMessage(ASK)]}, stream_mode="custom")
    assert event["tier"] == "large"


def test_wrong_arguments_are_errors_when_it_is_made(memory: Memory) -> None:
    with pytest.raises(ConfigError, match="huge"):
        AutoRecallMiddleware(memory, tier="huge")
    with pytest.raises(RecordError, match="scope"):
        AutoRecallMiddleware(memory, extra_scopes=[" "])


# --- failure ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_failing_recall_is_told_and_the_model_is_called(
    memory: Memory, how: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    agent, model, recall = agent_with(memory)

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(memory, "recall", fail)
    events = []
    with caplog.at_level(logging.WARNING, "olav.langchain"):
        if how == "invoke":
            events = list(agent.stream({"messages": [HumanMessage(ASK)]}, stream_mode="custom"))
            assert events == [
                {"type": "olav_recall", "agent": "netops", "error": "RuntimeError: the disk is gone"}
            ]
        else:
            drive(agent, how, {"messages": [HumanMessage(ASK)]})
    assert [messages[0].content for messages in model.seen] == [ASK]
    assert recall.failures == 1
    assert "the disk is gone" in recall.last_error
    assert "the disk is gone" in caplog.text


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_recall_that_takes_too_long_is_left_behind(
    memory: Memory, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from threading import Event

    agent, model, recall = agent_with(memory, recall={"time_budget": 0.01})
    stop = Event()
    monkeypatch.setattr(memory, "recall", lambda *_, **__: stop.wait(10))
    try:
        drive(agent, how, {"messages": [HumanMessage(ASK)]})
    finally:
        stop.set()
    assert blocks_per_call(model) == [0]
    assert recall.last_error == "no answer within 0.01 s"


def test_the_trace_goes_to_the_stream(memory: Memory) -> None:
    agent, _, _ = agent_with(memory)
    (event,) = agent.stream({"messages": [HumanMessage(ASK)]}, stream_mode="custom")
    assert event["type"] == "olav_recall"
    assert event["tier"] == "small"
    assert event["ids"]
    agent, _, _ = agent_with(memory, recall={"trace": "full"})
    (event,) = agent.stream({"messages": [HumanMessage(ASK)]}, stream_mode="custom")
    assert event["trace"][0]["decision"] == "injected"
    agent, _, _ = agent_with(memory, recall={"trace": None})
    assert list(agent.stream({"messages": [HumanMessage(ASK)]}, stream_mode="custom")) == []


# --- tools --------------------------------------------------------------------------------------------


def test_the_recall_tool_stays_in_its_scopes_unless_allowed(memory: Memory) -> None:
    ask = {"query": "How are invoices of acme numbered?"}
    own = recall_tool(memory, agent="netops")
    assert "AC-1000" not in own.invoke(ask)
    assert "may not look into billing" in own.invoke({**ask, "scopes": ["billing"]})
    allowed = recall_tool(memory, agent="netops", allowed_scopes=["billing"])
    assert "AC-1000" not in allowed.invoke(ask)
    assert "AC-1000" in allowed.invoke({**ask, "scopes": ["billing"]})
    anywhere = recall_tool(memory, agent="netops", allowed_scopes=None)
    assert "AC-1000" in anywhere.invoke({**ask, "scopes": "billing"})


def test_the_recall_tool_answers_what_it_cannot_do(memory: Memory) -> None:
    own = recall_tool(memory, agent="netops")
    assert "no category 'facts'" in own.invoke({"query": ASK, "category": "facts"})
    assert own.invoke({"query": "  "}).startswith("No memory matches")
    assert own.invoke({"query": ASK, "limit": 0}).count("<memory ") == 1


def test_what_the_recall_tool_returns_is_not_stored_again(memory: Memory) -> None:
    own, keep = memory_tools(memory, agent="netops")
    before = memory.store.count()
    found = own.invoke({"query": ASK})
    assert "10.255.0.1" in found
    assert '"error"' in keep.invoke({"text": found})
    assert '"remembered"' in keep.invoke({"text": f"{found}\nRouter R7 is in rack 12"})
    assert memory.store.count() == before + 1
    (row,) = [record for record in memory.list(scopes=["netops"]) if "R7" in record.text]
    assert row.text == "Router R7 is in rack 12"
    assert row.origin == "agent"


def test_the_remember_tool_tells_what_became_of_it(memory: Memory) -> None:
    keep = remember_tool(memory, agent="netops")
    assert '"remembered"' in keep.invoke({"text": "Router R3 was replaced"})
    assert '"known already"' in keep.invoke({"text": "Router R3 was replaced"})
    assert "no category 'usage_guide'" in keep.invoke({"text": "x", "category": "usage_guide"})
    assert '"error"' in keep.invoke({"text": " "})


def test_a_tool_that_fails_does_not_end_the_run(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("password is hunter2")

    own, keep = memory_tools(memory, agent="netops")
    monkeypatch.setattr(memory, "search", fail)
    monkeypatch.setattr(memory, "remember", fail)
    for answer in (own.invoke({"query": ASK}), keep.invoke({"text": "x"})):
        assert "RuntimeError" in answer
        assert "hunter2" not in answer


def test_the_tools_run_inside_an_agent_beside_the_injected_block(memory: Memory) -> None:
    script = [
        call("olav_recall_memory", query="change windows"),
        call("olav_remember", text="R1 was rebooted on Monday"),
        "fine",
    ]
    agent, model, _ = agent_with(memory, *script, recall={"tools": memory_tools(memory, agent="netops")})
    state = agent.invoke({"messages": [HumanMessage(ASK)]})
    assert {"ping", "olav_recall_memory", "olav_remember"} <= set(model.offered[0])
    results = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert [message.status for message in results] == ["success", "success"]
    assert "Tuesday" in results[0].content
    assert blocks_per_call(model) == [1, 1, 1]
