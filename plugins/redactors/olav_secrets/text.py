"""Texts: find the secrets of a text, and put marks in their places."""

from __future__ import annotations

from collections import Counter

from olav_secrets import (
    assignments,
    calls,
    commands,
    devices,
    encoded,
    headers,
    kubernetes,
    mentions,
    pairs,
    private_keys,
    sql,
    tables,
    tokens,
    urls,
)
from olav_secrets.mark import mark
from olav_secrets.rule import Table
from olav_secrets.shadow import MASKED, View, shadow
from olav_secrets.span import Span, merged

#: A mark can make a neighbour plain to see; more rounds than this were never needed.
_ROUNDS = 4


_TABLE = Table(
    [
        *tokens.RULES,
        *headers.RULES,
        *urls.RULES,
        *devices.RULES,
        *sql.RULES,
        *commands.RULES,
        *calls.RULES,
        *pairs.RULES,
    ]
)
#: A secret may be wrapped twice (JSON in base64 in base64).
_WRAPPINGS = 2


def find(text: str, wrappings: int = _WRAPPINGS) -> list[Span]:
    """Return the spans of the secrets in `text`, in order, none overlapping."""
    if len(text) < 4:
        return []
    view = View(shadow(text))
    keys = list(private_keys.find(view))
    if keys:
        view = View(_covered(view.text, merged(keys)))
    spans = [
        *keys,
        *_TABLE.find(view),
        *tokens.find_prefixed(view),
        *assignments.find(view),
        *mentions.find(view),
        *sql.find_inserted(view),
        *tables.find(view),
        *kubernetes.find(view),
    ]
    if wrappings:
        spans += encoded.find(view.text, lambda inner: find(inner, wrappings - 1))
    return merged(span for span in spans if _is_fresh(view.text[span.start : span.end], span.kind))


def _is_fresh(seen: str, kind: str) -> bool:
    """Return whether more than earlier marks and punctuation stands there (found keys are covered by now)."""
    return kind in {"private_key", "jwk"} or MASKED not in seen or any(map(str.isalnum, seen))


def _covered(view: str, spans: list[Span]) -> str:
    """Return the view without what is found already: the other finders need not read long keys again."""
    parts, done = [], 0
    for span in spans:
        parts += [view[done : span.start], MASKED * (span.end - span.start)]
        done = span.end
    return "".join([*parts, view[done:]])


def redact_text(text: str, found: Counter[str]) -> str:
    """Return the text with marks for its secrets, and count them by kind in `found`."""
    for _ in range(_ROUNDS):
        spans = find(text)
        if not spans:
            break
        parts, done = [], 0
        for span in spans:
            found[span.kind] += 1
            put = mark(span.kind, text[span.start : span.end])
            parts += [text[done : span.start], f'"{put}"' if span.quote else put]
            done = span.end
        text = "".join([*parts, text[done:]])
    return text
