"""What a chat model said, whichever way it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from attrs import frozen

#: What servers and LangChain models call an answer that ran out of tokens.
CUT: Final = frozenset({"length", "max_tokens", "MAX_TOKENS"})


@frozen(kw_only=True)
class ChatReply:
    """What the model said, and what it cost in tokens (None when the server does not tell).

    `cut`: it ran out of tokens before it was done."""

    text: str
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    cut: bool = False


class ChatModel(Protocol):
    """What learning needs of a chat model. `open_chat` makes one; a test may write its own."""

    def complete(self, messages: Sequence[Mapping[str, str]]) -> ChatReply:
        """Return the answer to role/content messages; raise ChatError or ChatUnavailableError."""
        ...


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
