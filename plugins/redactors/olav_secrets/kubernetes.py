"""Kubernetes: in a manifest of kind Secret every value of `data` is one, whatever its key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from olav_secrets.mark import MARK, mark
from olav_secrets.shadow import View
from olav_secrets.span import Span

_KIND = re.compile(r"(?m:^)[ \t]*kind:[ \t]*[\"']?secret[\"']?[ \t]*(?m:$)")
_DATA = re.compile(r"(?m:^)(?P<indent>[ \t]*)(?:data|stringdata):[ \t]*\n")
_ENTRY = re.compile(
    r"(?P<indent>[ \t]+)[\w.-]{1,100}:[ \t]*(?P<q>[\"']?)(?P<v>[^\s\"'|>][^\n\"']{3,8192})(?P=q)"
    r"[ \t]*(?:\n|\Z)"
)
#: A manifest is read this far on both sides of its kind, and of its data this many entries.
_REACH, _MOST = 20_000, 200


def find(view: View) -> Iterator[Span]:
    """Yield the values below `data:` in the documents of a YAML text that are of kind Secret."""
    if not view.low_has("secret") or not view.low_has("data:"):
        return
    text, done = view.low, 0
    for kind in _KIND.finditer(text):
        if kind.start() < done:
            continue
        start = max(text.rfind("\n---", 0, kind.start()) + 1, kind.start() - _REACH, done)
        end = text.find("\n---", kind.end(), kind.end() + _REACH)
        done = end if end >= 0 else min(kind.end() + _REACH, len(text))
        for data in _DATA.finditer(text, start, done):
            place = data.end()
            for _ in range(_MOST):
                entry = _ENTRY.match(text, place, done)
                if entry is None or len(entry["indent"]) <= len(data["indent"]):
                    break
                yield Span(*entry.span("v"), "secret")
                place = entry.end()


def without_secret_data(members: Mapping[Any, Any], found: Counter[str]) -> Mapping[Any, Any]:
    """Return the members; those of `data` as marks when the object is a Secret."""
    data = members.get("data")
    if members.get("kind") != "Secret" or not isinstance(data, Mapping):
        return members
    clean = {}
    for key, value in data.items():
        secret = isinstance(value, str) and len(value) >= 4 and not MARK.search(value)
        if secret:
            found["secret"] += 1
        clean[key] = mark("secret", value) if secret else value
    return {**members, "data": clean}
