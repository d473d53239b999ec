"""Values: redact a string, or a JSON value part by part.

Keys, order and types stay; strings, and numbers that are passwords, become marks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from olav_core import Finding
from olav_secrets.argument_list import redact_arguments
from olav_secrets.mark import mark
from olav_secrets.named_value import Name, is_secret_value, name_of, sibling_name
from olav_secrets.text import redact_text

#: Members that carry what the object they stand in is about: {"token": {"value": "…"}}.
_CARRIERS = frozenset(
    {"value", "val", "data", "secret", "plaintext", "content", "default", "string", "text", "raw"}
)


def redact(value: Any) -> tuple[Any, tuple[Finding, ...]]:
    """Return the value without its secrets, and what was masked, counted by kind."""
    found: Counter[str] = Counter()
    clean = _text(value, None, found) if isinstance(value, str) else _tree(value, found)
    return clean, tuple(Finding(kind, count) for kind, count in sorted(found.items()))


def _tree(root: Any, found: Counter[str]) -> Any:
    """Rebuild a tree without recursion, so that depth is no limit."""
    holder: list[Any] = [None]
    todo: list[tuple[Any, Name | None, Any, Any]] = [(root, None, holder, 0)]
    tuples: list[tuple[Any, Any]] = []
    while todo:
        value, name, container, slot = todo.pop()
        if isinstance(value, Mapping):
            container[slot] = copy = dict.fromkeys(value)
            beside = sibling_name(value)
            for key, member in value.items():
                carries = str(key).lower() in _CARRIERS
                todo.append(
                    (member, name_of(key, value) or ((beside or name) if carries else None), copy, key)
                )
        elif isinstance(value, (list, tuple)):
            container[slot] = items = redact_arguments(value, found)
            todo.extend((item, name, items, place) for place, item in enumerate(items))
            if isinstance(value, tuple):
                tuples.append((container, slot))
        elif isinstance(value, str):
            container[slot] = _text(value, name, found)
        elif isinstance(value, (bytes, bytearray)):
            container[slot] = _bytes(value, name, found)
        elif name and isinstance(value, (int, float)) and is_secret_value(value, name):
            container[slot] = _marked(str(value), name, found)
        else:
            container[slot] = value
    for container, slot in reversed(tuples):
        container[slot] = tuple(container[slot])
    return holder[0]


def _marked(secret: str, name: Name, found: Counter[str]) -> str:
    found[name.kind] += 1
    return mark(name.kind, secret)


def _text(value: str, name: Name | None, found: Counter[str]) -> str:
    if name and name.header:  # the value of an Authorization or Cookie header reads like the header's line
        head = f"{name.header}: "
        clean = redact_text(head + value, found)
        return clean.removeprefix(head) if clean.startswith(head) else clean
    if name and is_secret_value(value, name):
        return _marked(value, name, found)
    return _json(redact_text(value, found), found)


def _json(text: str, found: Counter[str]) -> str:
    """Return a JSON document without the secrets that only its structure tells; other texts unchanged."""
    bare = text.strip()
    if not (bare[:1] in {"{", "["} and bare[-1:] in {"}", "]"} and len(bare) > 8):
        return text
    try:
        document = json.loads(bare)
    except (ValueError, RecursionError):
        return text
    more: Counter[str] = Counter()
    clean = _tree(document, more)
    if not more:
        return text
    found.update(more)
    indent = 2 if "\n" in bare else None
    return json.dumps(clean, ensure_ascii=bare.isascii(), indent=indent)


def _bytes(value: bytes | bytearray, name: Name | None, found: Counter[str]) -> bytes | bytearray:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return value
    clean = _text(text, name, found)
    return value if clean == text else type(value)(clean.encode("utf-8"))
