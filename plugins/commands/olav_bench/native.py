"""Suite `native`: two JSON-lines files, memories and queries.

Memory: {id, text, category, scope, tags, origin, metadata, lang, timestamp, confidence}; id and text are
needed. Query: {qid, query, agent, teams, lang, relevant, forbidden, kind, split}; qid and query are needed,
`relevant` may be empty (a negative).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from olav_bench.reading import need, read_lines
from olav_core import Draft, RecordError, Suite, SuiteQuery


def load(paths: Sequence[Path]) -> Suite:
    """Return the suite in two files; raises RecordError naming file, line and what is wrong."""
    if len(paths) != 2:
        raise RecordError(f"Suite native reads two files, MEMORIES QUERIES; there are {len(paths)} paths.")
    memories_path, queries_path = paths
    memories: dict[str, Draft] = {}
    languages: dict[str, str] = {}
    for number, row in read_lines(memories_path):
        where = f"{memories_path}:{number}"
        key = str(need(row, "id", where))
        if key in memories:
            raise RecordError(f"{where}: id {key!r} stands there twice. Give every memory its own.")
        memories[key] = Draft(
            text=need(row, "text", where),
            category=row.get("category", "fact"),
            scope=row.get("scope"),
            tags=tuple(row.get("tags", ())),
            origin=row.get("origin", "user"),
            metadata=row.get("metadata", {}),
            confidence=row.get("confidence", 1.0),
            timestamp=row.get("timestamp"),
            expires_at=row.get("expires_at"),
            line=number,
        )
        languages[key] = str(row.get("lang", ""))
    queries = tuple(
        _query(row, f"{queries_path}:{number}", memories) for number, row in read_lines(queries_path)
    )
    return Suite(
        id="native",
        memories=memories,
        queries=queries,
        unit="memory",
        pool="the agent's scopes",
        languages=languages,
    )


def _query(row: dict[str, Any], where: str, memories: dict[str, Draft]) -> SuiteQuery:
    relevant = frozenset(map(str, row.get("relevant", ())))
    forbidden = frozenset(map(str, row.get("forbidden", ())))
    unknown = sorted((relevant | forbidden) - set(memories))
    if unknown:
        raise RecordError(f"{where}: {unknown[0]!r} is no memory's id. Mend relevant or forbidden.")
    return SuiteQuery(
        qid=str(need(row, "qid", where)),
        query=str(need(row, "query", where)),
        relevant=relevant,
        forbidden=forbidden,
        agent=str(row.get("agent", "core")),
        teams=tuple(row.get("teams", ())),
        kind=str(row.get("kind", "")),
        lang=str(row.get("lang", "")),
        split=str(row.get("split", "")),
    )
