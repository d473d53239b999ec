"""Memories for the speed benchmarks: real words, topics that share vocabulary, fixed seeds."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from olav_core import Draft

TEXTS = Path(__file__).parent / "texts"
SCOPES = ("global", "netops", "services", "team:noc", "billing")
#: Category -> (share of the rows, metadata of row i).
SHARES = {"fact": 30, "operational_event": 30, "usage_guide": 8, "query_pattern": 10, "expert_knowledge": 6,
          "reflection": 6, "decision": 3, "preference": 2, "document": 5}  # fmt: skip


def vocabulary() -> list[str]:
    """Return distinct words of the project's own texts: English words, Chinese runs of 2 to 4 characters."""
    words: dict[str, None] = {}
    for path in sorted(TEXTS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for value in (row.get("text"), row.get("passage"), row.get("query")):
                for word in re.findall(r"[a-z]{4,}|[\u4e00-\u9fff]{2,4}", (value or "").lower()):
                    words[word] = None
    return list(words)


def texts(rows: int, seed: int = 7, topics: int = 200) -> Iterator[tuple[int, str]]:
    """Yield (topic, text) pairs of 12 to 40 words: two thirds from the topic's own 25 words."""
    chosen = random.Random(seed)
    words = vocabulary()
    own = [chosen.sample(words, 25) for _ in range(topics)]
    for _ in range(rows):
        topic = chosen.randrange(topics)
        size = chosen.randint(12, 40)
        yield (
            topic,
            " ".join(chosen.choice(own[topic] if chosen.random() < 0.67 else words) for _ in range(size)),
        )


def drafts(rows: int, seed: int = 7) -> Iterator[Draft]:
    """Yield memories over categories and scopes; every text is its own row."""
    chosen = random.Random(seed + 1)
    categories = chosen.choices(list(SHARES), weights=list(SHARES.values()), k=rows)
    for i, (category, (topic, text)) in enumerate(zip(categories, texts(rows, seed), strict=True)):
        words = text.split()
        metadata: dict[str, object] = {}
        if category == "usage_guide":
            metadata = {"intent": f"intent_{i}", "agent": "netops", "keywords": words[:4]}
        elif category == "operational_event":
            metadata = {"tool": f"tool_{topic}", "args": {"n": i}}
        elif category == "query_pattern":
            metadata = {"question": text, "sql": f"SELECT * FROM t_{topic} WHERE id = {i}"}
        elif category == "document":
            metadata = {"source": f"doc_{i}.md"}
        yield Draft(
            text=f"{text} #{i}",
            category=category,
            scope=chosen.choice(SCOPES),
            origin="agent" if category in ("operational_event", "reflection", "expert_knowledge") else "user",
            metadata=metadata,
        )


def queries(count: int, seed: int = 7) -> list[str]:
    """Return short queries of 4 to 9 words on the same topics."""
    chosen = random.Random(seed + 2)
    return [" ".join(text.split()[: chosen.randint(4, 9)]) for _, text in texts(count, seed)]
