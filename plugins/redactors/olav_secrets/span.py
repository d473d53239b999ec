"""A span: the place of one secret in a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Characters `start:end` hold a secret of this kind; `quote` asks for quotes round the mark, so that an
    unquoted JSON number leaves valid JSON behind."""

    start: int
    end: int
    kind: str
    quote: bool = False


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, overlapping ones as one; the first finder that saw it names the kind."""
    ranked = sorted(enumerate(spans), key=lambda item: (item[1].start, -item[1].end))
    result: list[Span] = []
    rank = 0
    for order, span in ranked:
        if result and span.start < result[-1].end:
            last = result[-1]
            kind = last.kind if rank <= order else span.kind
            result[-1] = Span(last.start, max(last.end, span.end), kind, last.quote and span.quote)
            rank = min(rank, order)
        else:
            result.append(span)
            rank = order
    return result
