"""One conversation with the user's chat model: scripted turns, scripted results of its tool calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import Factory, define

from olav_bench.behaviour.scenario import Scenario
from olav_core import Chat, ChatReply, ToolCall, estimate_tokens

#: Answers of the model to one turn; a model that calls tools without end is cut here.
MAX_STEPS = 6
#: What a tool answers for which the scenario has no result.
DONE = "ok"
Messages = list[dict[str, Any]]
#: Puts memory into the messages of one call; the identity without memory.
Enrich = Callable[[Sequence[Mapping[str, Any]]], Messages]


@define
class Conversation:
    """What was said and called. `calls` and `text` are of the last turn: what is judged. Tokens are the
    server's count, or estimated where it tells none (`estimated`)."""

    messages: Messages = Factory(list)
    calls: list[ToolCall] = Factory(list)
    text: str = ""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: bool = False

    def count(self, sent: Sequence[Mapping[str, Any]], reply: ChatReply) -> None:
        """Add what one call cost."""
        if reply.prompt_tokens is None or reply.reply_tokens is None:
            self.estimated = True
        sizes = [estimate_tokens(str(message.get("content") or "")) for message in sent]
        self.prompt_tokens += reply.prompt_tokens if reply.prompt_tokens is not None else sum(sizes)
        said = reply.text + "".join(call.raw for call in reply.tool_calls)
        self.reply_tokens += reply.reply_tokens if reply.reply_tokens is not None else estimate_tokens(said)


def converse(chat: Chat, scenario: Scenario, enrich: Enrich) -> Conversation:
    """Play the scenario's turns and return the conversation. Memory is put into each request and never into
    what is kept. Raises ChatError and ChatUnavailableError."""
    found = Conversation(messages=[{"role": "system", "content": scenario.system}])
    for turn in scenario.turns:
        found.messages.append({"role": "user", "content": turn})
        found.calls, found.text = [], ""
        for _ in range(MAX_STEPS):
            sent = enrich(found.messages)
            reply = chat.complete(sent, tools=scenario.tools)
            found.count(sent, reply)
            found.text += reply.text
            found.calls += reply.tool_calls
            found.messages.append(_told(reply))
            if not reply.tool_calls:
                break
            found.messages += [_result(scenario, call) for call in reply.tool_calls]
    return found


def _told(reply: ChatReply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for call in reply.tool_calls
        ]
    return message


def _result(scenario: Scenario, call: ToolCall) -> dict[str, Any]:
    known = {tool["function"]["name"] for tool in scenario.tools}
    text = scenario.results.get(call.name, DONE) if call.name in known else f"unknown tool {call.name}"
    return {"role": "tool", "tool_call_id": call.id, "content": text}
