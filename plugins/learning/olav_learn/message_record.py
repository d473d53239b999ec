"""Tool calls of a list of messages: LangChain's, as objects or in any of its JSON forms, and OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from olav_learn.run_call import canonical, digest

_TYPES: Final = {
    "assistant": "ai", "user": "human", "developer": "system", "AIMessage": "ai", "AIMessageChunk": "ai",
    "HumanMessage": "human", "ToolMessage": "tool", "SystemMessage": "system", "FunctionMessage": "function",
}  # fmt: skip
_KINDS: Final = frozenset(("ai", "human", "tool", "system", "function", "remove", "chat"))


def is_messages(value: Any) -> bool:
    """Whether `value` is a list of messages, one of them at least."""
    return bool(isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and value) and all(
        message_of(item) is not None for item in value
    )


def calls_of_messages(messages: Sequence[Any], run: str = "") -> Iterator[dict[str, Any]]:
    """Yield the calls that were answered, in order, as `olav capture import` reads them, with `error`.

    Each user's message begins another run: what worked in a later turn corrects nothing of an earlier one.
    """
    told = [message for message in map(message_of, messages) if message is not None]
    answers = {str(m.get("tool_call_id")): m for m in told if m["type"] == "tool"}
    turn, words = 0, ""
    for message in told:
        if message["type"] == "human":
            turn, words = turn + 1, canonical(message.get("content"))
        if message["type"] != "ai":
            continue
        for call in _asked(message):
            answer = answers.get(call["id"])
            if answer is None and not call["error"]:
                continue  # interrupted, or cut off
            said = text_of(answer.get("content")) if answer is not None else call["error"]
            failed = bool(call["error"]) or str(answer and answer.get("status")) == "error"
            known = digest(canonical([call["id"], call["name"], call["args"], said, words]))[:16]
            yield {
                "tool": call["name"],
                "args": call["args"],
                "result": said,
                "status": "error" if failed else "",
                "run": f"{run or digest(canonical(told[0].get('content')))[:8]}:{turn}",
                # Ids of local models ("call_0") are not unique: what was said makes them so.
                "call": known,
            }


def message_of(value: Any) -> dict[str, Any] | None:
    """Return a message's fields with `type` one of ai, human, tool, …; None when it is no message."""
    if not isinstance(value, Mapping):
        dump = getattr(value, "model_dump", None)
        if not callable(dump) or not hasattr(value, "content"):
            return None
        value = dump()
    if "kwargs" in value and isinstance(value.get("id"), list) and value["id"]:  # langchain_core.load.dumpd
        value = {**value["kwargs"], "type": value["id"][-1]}
    elif isinstance(value.get("data"), Mapping) and "type" in value:  # messages_to_dict
        value = {**value["data"], "type": value["type"]}
    kind = str(value.get("type") or value.get("role") or "")
    kind = _TYPES.get(kind, kind)
    if kind not in _KINDS or not ("content" in value or "tool_calls" in value):
        return None
    return {**value, "type": kind}


def text_of(content: Any) -> Any:
    """Return the text of content blocks; anything else as it is."""
    if isinstance(content, list) and all(isinstance(block, (str, Mapping)) for block in content):
        parts = [block if isinstance(block, str) else block.get("text") for block in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content


def _asked(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    extra = message.get("additional_kwargs")
    wanted = message.get("tool_calls") or (isinstance(extra, Mapping) and extra.get("tool_calls")) or ()
    for call in [*wanted, *(message.get("invalid_tool_calls") or ())]:
        function = call.get("function")
        if isinstance(function, Mapping):  # OpenAI's form
            call = {**call, "name": function.get("name"), "args": function.get("arguments")}
        args, error = call.get("args"), call.get("error")
        if isinstance(args, str):
            try:
                args = json.loads(args or "{}")
            except (ValueError, RecursionError):
                error = error or "the arguments are no JSON"
        name = str(call.get("name") or "")
        yield {"name": name, "args": args, "id": str(call.get("id")), "error": error or ""}
