"""Argument lists: ["mysql", "-u", "root", "-psecret"] is read like the command line it stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from olav_secrets.mark import mark
from olav_secrets.span import Span
from olav_secrets.text import find


def redact_arguments(items: Sequence[Any], found: Counter[str], program: str = "") -> list[Any]:
    """Return a copy of the items; if they are a command line (of `program`, where it does not begin with its
    own), with its secret arguments masked."""
    result = list(items)
    strings = [item for item in items if isinstance(item, str)]
    if len(strings) < 2 or len(strings) != len(items) or not any(item.startswith("-") for item in strings):
        return result
    head = f"{program} " if program else ""
    spans = find(head + " ".join(strings))
    start = len(head)
    for place, item in enumerate(strings):
        end = start + len(item)
        for span in reversed(spans):
            if start <= span.start < end and span.end <= end:
                result[place] = _put(result[place], span, start)
                found[span.kind] += 1
        start = end + 1
    return result


def _put(item: str, span: Span, start: int) -> str:
    low, high = span.start - start, span.end - start
    return item[:low] + mark(span.kind, item[low:high]) + item[high:]
