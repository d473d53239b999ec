"""The words that most events of a group share: argument names and the values, or their parts, that recur."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from olav_core import MemoryRecord

MAX_TERMS: Final = 24
MAX_WORD_CHARS: Final = 40
#: Share of the events that have a word.
SHARED: Final = 0.5
_WORD: Final = re.compile(r"[^\W_]+")


def shared_terms(events: Sequence[MemoryRecord]) -> list[str]:
    """Return the words in order of their first event, at most 24; numbers alone say nothing."""
    counts: Counter[str] = Counter()
    for event in events:
        counts.update(list(dict.fromkeys(_words(event.metadata.get("args") or {}))))
    return [word for word, count in counts.items() if count >= SHARED * len(events)][:MAX_TERMS]


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _words(str(name))
            yield from _words(item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif isinstance(value, str):
        for word in _WORD.findall(value):
            if 1 < len(word) <= MAX_WORD_CHARS and not word.isdigit():
                yield word
