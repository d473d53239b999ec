"""Mining the recall log and thumbs for golden queries: what was asked, and what people said answers it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import Factory, define

from olav_core import language_of

if TYPE_CHECKING:
    from olav_core import Feedback, Memory

#: Characters of a shown memory's text in a query that waits for its label.
SHOWN_CHARS = 200


@define
class _Asked:
    """One question of one agent: how often it was asked, in which scopes, and what the thumbs say."""

    query: str = ""
    agent: str = ""
    times: int = 0
    scopes: tuple[str, ...] | None = None
    verdicts: dict[str, str] = Factory(dict)


def mine(memory: Memory, since: datetime | None = None) -> dict[str, Any]:
    """Return {"queries": rows as the suite `store` reads them, "labelled", "unlabelled", "without_words",
    "gone"}.

    A thumb up puts its memory into `relevant`, the last thumb on a memory counts; `rejected` got a thumb
    down. A query without a thumb up has `relevant` null and `shown`, what it was answered with: a person
    labels it. `without_words` counts thumbs whose query was not kept, `gone` those on memories that are no
    more.
    """
    history = memory.history
    texts = {record.id: record.text for record in memory.list()}
    found: dict[tuple[str, str], _Asked] = defaultdict(_Asked)
    for logged in history.queries(since):
        asked = found[logged.query_hash, logged.agent]
        asked.query, asked.agent, asked.times = logged.query, logged.agent, asked.times + 1
        usual = logged.scopes == memory.scopes_of(logged.agent)
        asked.scopes = None if usual else logged.scopes
    skipped = _take_thumbs(history.thumbs(since), texts, found)
    shown: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for hit in history.hits(since):
        shown[hit.query_hash, hit.agent].setdefault(hit.memory_id, hit.rank)
    rows = [_row(key, asked, [id for id in shown[key] if id in texts], texts) for key, asked in found.items()]
    labelled = sum(row["relevant"] is not None for row in rows)
    rows.sort(key=lambda row: (row["relevant"] is None, -row["times"], row["qid"]))
    return {"queries": rows, "labelled": labelled, "unlabelled": len(rows) - labelled, **skipped}


def _take_thumbs(
    thumbs: Iterable[Feedback], texts: Mapping[str, str], found: dict[tuple[str, str], _Asked]
) -> dict[str, int]:
    skipped = Counter(without_words=0, gone=0)
    for thumb in thumbs:
        if thumb.memory_id not in texts:
            skipped["gone"] += 1
            continue
        # given with a question, but without an agent: that of whoever asked it
        owners = [key for key in found if key[0] == thumb.query_hash and thumb.agent in ("", key[1])]
        if not owners and not thumb.query:
            skipped["without_words"] += 1
            continue
        for key in owners or [(thumb.query_hash, thumb.agent)]:
            asked = found[key]
            asked.query, asked.agent = asked.query or thumb.query, asked.agent or thumb.agent
            asked.verdicts[thumb.memory_id] = thumb.verdict
    return dict(skipped)


def _row(key: tuple[str, str], asked: _Asked, shown: list[str], texts: Mapping[str, str]) -> dict[str, Any]:
    ups = sorted(id for id, verdict in asked.verdicts.items() if verdict == "up")
    row: dict[str, Any] = {
        "qid": f"mined-{key[0][:12]}-{asked.agent or 'core'}",
        "query": asked.query,
        "agent": asked.agent or "core",
        "lang": language_of(asked.query),
        "relevant": ups or None,
        "rejected": sorted(set(asked.verdicts) - set(ups)),
        "kind": "mined",
        "times": asked.times,
    }
    if asked.scopes is not None:
        row["scopes"] = list(asked.scopes)
    if not ups:
        row["shown"] = [{"id": id, "text": texts[id][:SHOWN_CHARS]} for id in shown]
    return row
