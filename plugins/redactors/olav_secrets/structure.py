"""Values: redact a string, or a JSON value part by part.

Keys, order and types stay; strings, and numbers that are passwords, become marks.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from olav_core import Finding
from olav_secrets.argument_list import redact_arguments
from olav_secrets.kubernetes import without_secret_data
from olav_secrets.mark import mark
from olav_secrets.named_value import (
    Name,
    is_secret_value,
    login_of,
    name_of,
    pair_name,
    program_of,
    sibling_name,
)
from olav_secrets.names import SURE
from olav_secrets.text import redact_text

#: Members that carry what the object they stand in is about: {"token": {"value": "…"}}.
_CARRIERS = frozenset(
    {"value", "val", "data", "key", "secret", "plaintext", "content", "default", "string", "text", "raw"}
)


#: Members that say something of the fields that they name: {"errors": {"password": ["too short"]}}.
_REMARKS = frozenset({"errors", "error", "messages", "hints", "help", "labels", "descriptions"})
#: Members whose list is a user and a password.
_LOGINS = frozenset({"auth", "basic_auth", "basicAuth", "http_auth", "credentials", "login"})


#: Where a JSON document may begin in a text, and how many of these places are tried.
_DOCUMENT = re.compile(r'\{\s*"|\[\s*[\[{"]')
_MOST_DOCUMENTS = 8
_DECODER = json.JSONDecoder()


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
            names = _keys(value, found)
            container[slot] = copy = dict.fromkeys(names.values())
            beside = sibling_name(value)
            program = program_of(value)
            value = without_secret_data(value, found)
            for key, member in value.items():
                if program and isinstance(member, list):
                    member = redact_arguments(member, found, program)
                carries = str(key).lower() in _CARRIERS
                own = None if slot in _REMARKS and not isinstance(member, Mapping) else name_of(key, value)
                if key in _LOGINS and (login := login_of(member)):
                    member = type(member)([login[0], _marked(login[1], Name("password", SURE), found)])
                todo.append((member, own or ((beside or name) if carries else None), copy, names[key]))
        elif isinstance(value, (list, tuple)):
            container[slot] = items = redact_arguments(value, found)
            todo.extend((item, name, items, place) for place, item in enumerate(items))
            if name is None and (paired := pair_name(items, container)):
                todo[-1] = (items[1], paired, items, 1)
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


def _keys(members: Mapping[Any, Any], found: Counter[str]) -> dict[Any, Any]:
    """Return key -> key, one that spells a secret itself without it; no two become one."""
    names: dict[Any, Any] = {}
    for key in members:
        clean = _key(key) if isinstance(key, str) and len(key) >= 8 else key
        if clean != key:
            found["key"] += 1
            while clean in names.values() or clean in members:
                clean = f"{clean}#"
        names[key] = clean
    return names


@lru_cache(maxsize=4096)
def _key(key: str) -> str:
    return redact_text(key, Counter())


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
    """Return the text, its JSON documents without the secrets that only their structure tells."""
    place = 0
    for _ in range(_MOST_DOCUMENTS):
        opening = _DOCUMENT.search(text, place)
        if opening is None:
            break
        try:
            document, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            place = opening.end()
            continue
        bare, more = text[opening.start() : end], Counter[str]()
        clean = _tree(document, more)
        if more:
            found.update(more)
            indent = 2 if "\n" in bare else None
            bare = json.dumps(clean, ensure_ascii=bare.isascii(), indent=indent)
            text = f"{text[: opening.start()]}{bare}{text[end:]}"
        place = opening.start() + len(bare)
    return text


def _bytes(value: bytes | bytearray, name: Name | None, found: Counter[str]) -> bytes | bytearray:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return value
    clean = _text(text, name, found)
    return value if clean == text else type(value)(clean.encode("utf-8"))
