"""Success predicates: whether a tool's result says that it failed, in whatever shape it comes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from olav_core import VerbMatcherSpec, hookimpl

#: Longer texts are read as text, at both ends only.
MAX_JSON_CHARS = 200_000


def succeeded(result: Any, tool_name: str = "") -> bool | None:
    """Return False for a failure, True for a success that says so, None when it cannot tell.

    `result` may be a string (also one that holds JSON), a mapping, a list of content blocks or of results, an
    object with `status` and `content`, an exception, or nothing. `tool_name` tells that `cancelled` is what
    `cancel_order` is for.
    """
    return _succeeded(result, tool_name, 0)


def _succeeded(result: Any, tool_name: str, depth: int) -> bool | None:
    from olav_outcomes.structured import list_succeeded, mapping_succeeded
    from olav_outcomes.text import text_succeeded

    if isinstance(result, bool):
        return result
    if isinstance(result, BaseException):
        return False
    if isinstance(result, (bytes, bytearray)):
        result = bytes(result[:MAX_JSON_CHARS]).decode("utf-8", "replace")
    if isinstance(result, str):
        held = _held(result)
        return text_succeeded(result, tool_name) if held is None else _succeeded(held, tool_name, depth + 1)
    if isinstance(result, Mapping):
        if (
            result.get("type") in ("image", "image_url", "audio", "video", "resource", "file")
            and "status" not in result
        ):
            return None
        return mapping_succeeded(result, tool_name, _succeeded, depth)
    if isinstance(result, (list, tuple)):
        return list_succeeded(result, tool_name, _succeeded, depth)
    if hasattr(result, "content") and depth == 0:
        if str(getattr(result, "status", "") or "").lower() in ("error", "failed"):
            return False
        return _succeeded(result.content, tool_name, 1)
    return None


def _held(text: str) -> Any:
    """Return the object or list that a string holds as JSON, or as Python shows it; else None."""
    text = text.strip()
    if not text or len(text) > MAX_JSON_CHARS or text[0] not in "{[" or text[-1] not in "}]":
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    from ast import literal_eval

    try:
        value = literal_eval(text) if len(text) <= 20_000 else None
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return value if isinstance(value, (dict, list, tuple)) else None


@hookimpl
def olav_register_verb_matchers() -> list[VerbMatcherSpec]:
    return [
        VerbMatcherSpec(
            id="outcomes",
            purpose="Results that are failures: statuses, codes, error texts, dry runs, refusals (en, zh)",
            languages=("en", "zh"),
            succeeded=succeeded,
        )
    ]
