"""What a structured result says of itself: statuses, flags, codes, errors, at its top or in its envelope."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from olav_outcomes import failures, fields
from olav_outcomes.text import EDGE_CHARS, ends, text_succeeded, took_back

MAX_DEPTH: Final = 4
#: How many results of a list are looked at.
MAX_ITEMS: Final = 64
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def mapping_succeeded(result: Mapping[Any, Any], tool_name: str, succeeded: Any, depth: int) -> bool | None:
    """Return what the mapping's own fields say; `succeeded(value, tool_name, depth)` judges nested values."""
    given = {
        _CAMEL.sub("_", str(key)).lower().replace("-", "_").strip(): value for key, value in result.items()
    }
    verdicts = [_field(key, value, given, tool_name) for key, value in given.items()]
    if False in verdicts:
        return False
    texts = [value for key, value in given.items() if key in fields.MESSAGES and isinstance(value, str)]
    if True in verdicts:  # said in so many words; only "but …" and "dry run" take it back
        return not any(took_back(text) for text in texts)
    if any(text_succeeded(text, tool_name) is False for text in texts):
        return False
    stderr = given.get("stderr")
    if isinstance(stderr, str) and failures.ERROR_LINE.search(stderr[-EDGE_CHARS:]):
        return False
    for key in fields.ENVELOPES & set(given) if depth < MAX_DEPTH else ():
        value = given[key]
        if not isinstance(value, (bool, int, float)) and succeeded(value, tool_name, depth + 1) is False:
            return False
    return None


def list_succeeded(results: Sequence[Any], tool_name: str, succeeded: Any, depth: int) -> bool | None:
    """Content blocks speak together; of several results one that did not fail is enough."""
    if depth >= MAX_DEPTH:
        return None
    verdicts = [succeeded(item, tool_name, depth + 1) for item in results[:MAX_ITEMS]]
    if any(
        isinstance(item, Mapping) and item.get("type") in ("text", "output_text")
        for item in results[:MAX_ITEMS]
    ):
        return False if False in verdicts else None
    return False if verdicts and all(verdict is False for verdict in verdicts) else None


def _field(key: str, value: Any, given: Mapping[str, Any], tool_name: str) -> bool | None:
    if key in fields.STATUS and isinstance(value, str):
        return _status(value, tool_name)
    if (
        key in fields.STATUS | fields.HTTP | {"code"}
        and (number := _number(value)) is not None
        and key != "state"
    ):
        if 400 <= number < 600 or (key == "code" and number < 0):
            return False
        return True if key in fields.HTTP and 200 <= number < 300 else None
    if key == "code" and isinstance(value, str):
        return _status(value, tool_name)
    if key in fields.EXIT_CODES and (number := _number(value)) is not None:
        return number == 0
    if key in fields.FLAGS:
        return _flag(key, value, given)
    if key in fields.BAD_FLAGS:
        return False if _is_set(value) and not _partly(given) and not ends(tool_name, key) else None
    if key in fields.ERRORS:
        return False if _is_set(value) else None
    return None


def _status(value: str, tool_name: str) -> bool | None:
    words = value.strip().lower().replace(" ", "_").replace("-", "_")
    if words in fields.FAILED:
        return None if ends(tool_name, words) else False
    if words in fields.FINE:
        return True
    if (number := _number(value)) is not None:
        return False if 400 <= number < 600 else None
    short = len(words) <= 40 and any(
        words.startswith((f"{bad}_", f"{bad}:")) or words.endswith(f"_{bad}") for bad in fields.FAILED
    )
    return False if short or (len(value) > 15 and text_succeeded(value, tool_name) is False) else None


def _flag(key: str, value: Any, given: Mapping[str, Any]) -> bool | None:
    if isinstance(value, str):
        word = value.strip().lower()
        return False if word in ("false", "no", "0", "n", "否", "failed", "fail") else True if word else None
    if value is False:
        return False
    if isinstance(value, (int, float)) and value == 0:  # a count: none of them, or nothing to do
        return (
            False
            if key == "ok" or any(_is_set(given.get(name)) for name in ("failed", "errors", "error_count"))
            else None
        )
    return True if value is True else None


def _partly(given: Mapping[str, Any]) -> bool:
    """Whether some of a batch went through: `{"succeeded": 7, "failed": 3}` did change something."""
    counts = (
        given.get(name)
        for name in ("succeeded", "success", "successful", "ok", "created", "updated", "changed", "imported")
    )
    return any(isinstance(count, int) and not isinstance(count, bool) and count > 0 for count in counts)


def _is_set(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in fields.NO_ERROR
    if isinstance(value, Mapping) and set(value) <= {"code", "message"} and value:
        return any(_is_set(item) for item in value.values())
    return bool(value)


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    if isinstance(value, str):
        value = value.strip()
        if not value.removeprefix("-").isdecimal() or len(value) > 6:
            return None
    return int(value)
