"""A few of many events for one prompt: the oldest, the newest, and those that differ most from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from olav_core import MemoryRecord, estimate_tokens, query_terms

MAX_SAMPLES: Final = 24
#: All samples of one prompt together, estimated: with the answer a model with a window of 8k reads it whole.
MAX_TOKENS: Final = 4_000
MAX_SAMPLE_CHARS: Final = 1_600
#: Of a larger group, evenly spread over time; keeps choosing linear in the number of events.
MAX_POOL: Final = 400


def facts_of(event: MemoryRecord) -> str:
    """Return the event's arguments and result as one line of JSON."""
    data = event.metadata
    facts: dict[str, Any] = {"args": data.get("args") or {}}
    if data.get("result") not in (None, "", [], {}):
        facts["result"] = data["result"]
    if not data.get("args"):
        facts["text"] = event.text
    text = json.dumps(facts, ensure_ascii=False)
    return text if len(text) <= MAX_SAMPLE_CHARS else f"{text[:MAX_SAMPLE_CHARS]}… ({len(text)} characters)"


def choose(events: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Return the samples in order of time."""
    ordered = sorted(events, key=lambda event: (event.timestamp, event.id))
    if len(ordered) > MAX_POOL:
        step = (len(ordered) - 1) / (MAX_POOL - 1)
        ordered = [ordered[round(i * step)] for i in range(MAX_POOL)]
    texts = [facts_of(event) for event in ordered]
    costs = [estimate_tokens(text) for text in texts]
    terms = [frozenset(query_terms(text)) for text in texts]
    chosen: list[int] = []
    room = MAX_TOKENS
    # Distance to the nearest chosen one, kept running: one pass per choice.
    apart = [1.0] * len(ordered)
    forced = list(dict.fromkeys((len(ordered) - 1, 0)))
    while len(chosen) < MAX_SAMPLES:
        if forced:
            best = forced.pop(0)
        else:
            rest = [i for i in range(len(ordered)) if i not in chosen and costs[i] <= room]
            if not rest:
                break
            best = max(rest, key=lambda i: (apart[i], i))
        chosen.append(best)
        room -= costs[best]
        for i, own in enumerate(terms):
            union = len(own | terms[best])
            apart[i] = min(apart[i], 1.0 - (len(own & terms[best]) / union if union else 1.0))
    return [ordered[i] for i in sorted(chosen)]
