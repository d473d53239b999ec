"""LangChain messages: which one holds the user's words, and copies with the block in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, SystemMessage

from olav_core import last_user_text, with_block


def is_from_user(message: BaseMessage) -> bool:
    """Tell whether a person (or a parent agent) wrote the message: summaries, pinned skills and other
    notices are human messages too, marked by `lc_source`."""
    human = message.type == "human" or getattr(message, "role", None) in ("user", "human")
    return human and not message.additional_kwargs.get("lc_source")


def words_of(message: BaseMessage) -> str:
    """Return the message's text without blocks of earlier calls; "" when it has none."""
    return last_user_text([{"role": "user", "content": message.content}])


def last_query(messages: Sequence[BaseMessage]) -> str:
    """Return the words of the last message from the user; "" when there is none."""
    return next((words_of(message) for message in reversed(messages) if is_from_user(message)), "")


def with_files(system: SystemMessage | None, files: str) -> SystemMessage | None:
    """Return the system message with the block of files at its end; the same one when there are no files."""
    if not files:
        return system
    if system is None:
        return SystemMessage(files)
    content = system.content
    text = f"\n\n{files}"
    new = content + text if isinstance(content, str) else [*content, {"type": "text", "text": text}]
    return system.model_copy(update={"content": new})


def without_memories(messages: Sequence[BaseMessage]) -> list[Any]:
    """Return the messages without any block; those that change are copied."""
    return with_memories(messages, "")


def with_memories(messages: Sequence[BaseMessage], block: str) -> list[Any]:
    """Return the messages with `block` directly before the user's last words and no earlier block.

    Messages that change are copied. When a summary has swallowed the user's message, the block goes before
    the last human message that is left.
    """
    human = [at for at, message in enumerate(messages) if message.type in ("human", "HumanMessageChunk")]
    users = [at for at, message in enumerate(messages) if is_from_user(message)]
    anchor = (users or human)[-1] if users or human else None
    result = list(messages)
    for at in {*human, *users}:
        own_block = block if at == anchor else ""
        old = messages[at].content
        new = with_block([{"role": "user", "content": old}], own_block)[0]["content"]
        if new != old:
            result[at] = messages[at].model_copy(update={"content": new})
    return result
