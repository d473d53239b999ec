"""Learning as tools of an agent: callables with a JSON schema, in LangChain and without."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from olav_learn import learning_tools
from olav_learn.single_flight import single_flight
from registrations import GOOD, SERVICES, chat_at, register
from scripted_chat import serving

from olav_core import Memory

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from scripted_model import ScriptedModel, call


def test_a_call_extracts_what_is_due(memory: Memory) -> None:
    register(memory, *SERVICES)
    with serving(GOOD) as script, chat_at(script.url) as chat:
        extract, status = learning_tools(memory, chat)
        assert json.loads(extract(tool="register_service", dry_run=True))["applied"] is False
        assert memory.list(category="expert_knowledge") == []
        done = json.loads(extract())
        assert done["written"] == 1
        assert "prompt" not in done["groups"][0]
        assert json.loads(status())["groups"][0]["state"] == "unchanged"
    assert len(memory.list(category="expert_knowledge")) == 1


def test_errors_are_answers(memory: Memory) -> None:
    extract, _ = learning_tools(memory)
    assert "chat.base_url" in json.loads(extract())["error"]
    assert "no argument table" in json.loads(extract(table="x"))["error"]
    with single_flight(memory):
        assert "Another" in json.loads(extract())["error"]


def test_the_schema_is_that_of_a_function_call(memory: Memory) -> None:
    for tool in learning_tools(memory):
        entry = tool.openai
        assert entry["function"]["name"] == tool.name
        assert entry["function"]["parameters"]["type"] == "object"
        json.dumps(entry)


def test_a_langchain_agent_uses_them(memory: Memory) -> None:
    register(memory, *SERVICES)
    with serving(GOOD) as script, chat_at(script.url) as chat:
        tools = [
            StructuredTool.from_function(
                tool.run, name=tool.name, description=tool.description, args_schema=dict(tool.parameters)
            )
            for tool in learning_tools(memory, chat)
        ]
        model = ScriptedModel(script=[call("extract_patterns", tool="register_service"), "Learnt."])
        agent = create_agent(model, tools=tools)
        messages = agent.invoke({"messages": [{"role": "user", "content": "learn, please"}]})["messages"]
    (answer,) = [json.loads(message.content) for message in messages if message.type == "tool"]
    assert answer["written"] == 1
