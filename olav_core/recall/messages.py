"""Messages of a model call: finding the user's words, putting the block before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from olav_core.errors import RecordError
from olav_core.recall.render import strip_block

USER_ROLES = frozenset({"user", "human"})


def last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the words of the last user message, without blocks of earlier calls; "" when there is none.

    Raises RecordError when `messages` is no list of role/content mappings.
    """
    if not isinstance(messages, (list, tuple)) or not all(isinstance(each, Mapping) for each in messages):
        raise RecordError(
            "messages must be a list of mappings, each with role and content, such as "
            '[{"role": "user", "content": "…"}].'
        )
    position = _last_user(messages)
    return "" if position is None else _text(messages[position].get("content"))


def with_block(messages: Sequence[Mapping[str, Any]], block: str) -> list[dict[str, Any]]:
    """Return copies of the messages: earlier blocks taken out of user messages, `block` before the last
    user message's content (as its own text block when content is a list)."""
    result = [dict(message) for message in messages]
    for message in result:
        if message.get("role") in USER_ROLES:
            message["content"] = _stripped(message.get("content"))
    position = _last_user(result)
    if block and position is not None:
        message = result[position]
        content = message["content"]
        if isinstance(content, list):
            message["content"] = [{"type": "text", "text": block}, *content]
        else:
            message["content"] = f"{block}\n\n{content or ''}"
    return result


def _last_user(messages: Sequence[Mapping[str, Any]]) -> int | None:
    for position in range(len(messages) - 1, -1, -1):
        if messages[position].get("role") in USER_ROLES:
            return position
    return None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return strip_block(content).strip()
    if not isinstance(content, (list, tuple)):
        return ""
    parts = [block if isinstance(block, str) else _block_text(block) for block in content]
    return strip_block("\n".join(part for part in parts if part)).strip()


def _block_text(block: Any) -> str:
    if isinstance(block, Mapping) and block.get("type", "text") in ("text", "input_text"):
        return str(block.get("text") or "")
    return ""


def _stripped(content: Any) -> Any:
    if isinstance(content, str):
        return strip_block(content)
    if not isinstance(content, (list, tuple)):
        return content
    kept = []
    for block in content:
        if isinstance(block, str):
            block = strip_block(block)
        elif isinstance(block, Mapping) and isinstance(block.get("text"), str):
            block = {**block, "text": strip_block(block["text"])}
        is_text = isinstance(block, str) or (isinstance(block, Mapping) and "text" in block)
        if not is_text or (block if isinstance(block, str) else block["text"]):
            kept.append(block)
    return kept
