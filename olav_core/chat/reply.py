"""What a chat model said, whichever way it was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from attrs import frozen

#: What servers and LangChain models call an answer that ran out of tokens.
CUT: Final = frozenset({"length", "max_tokens", "MAX_TOKENS"})


@frozen(kw_only=True)
class ToolCall:
    """One call that the model asks for. `arguments` is None when they are no JSON object; `raw` is what the
    model wrote."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str


@frozen(kw_only=True)
class ChatReply:
    """What the model said, and what it cost in tokens (None when the server does not tell).

    `cut`: it ran out of tokens before it was done. `tool_calls`: what it asks to be called, in order."""

    text: str
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    cut: bool = False
    tool_calls: tuple[ToolCall, ...] = ()


class ChatModel(Protocol):
    """What learning needs of a chat model. `open_chat` makes one; a test may write its own."""

    def complete(self, messages: Sequence[Mapping[str, str]]) -> ChatReply:
        """Return the answer to role/content messages; raise ChatError or ChatUnavailableError."""
        ...


def tool_calls_of(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the tool calls of an OpenAI-style or Ollama message.

    Raises TypeError, KeyError or AttributeError when they are of another shape.
    """
    found = []
    for place, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        if not isinstance(function["name"], str):
            raise TypeError("the name of a tool is no text")
        given = function.get("arguments")
        raw = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
        try:
            arguments = json.loads(raw or "{}")
        except ValueError:
            arguments = None
        found.append(
            ToolCall(
                id=str(call.get("id") or f"call_{place}"),
                name=function["name"],
                arguments=arguments if isinstance(arguments, dict) else None,
                raw=raw,
            )
        )
    return tuple(found)


def text_of(content: Any) -> str:
    """Return the text of a message's content, a string or blocks; thoughts and images are left out.

    Raises TypeError when it is neither.
    """
    if content is None:
        return ""
    if isinstance(content, Sequence) and not isinstance(content, (str, bytes)):
        parts = [block if isinstance(block, str) else block.get("text", "") for block in content]
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str):
        raise TypeError("content is no text")
    return content
