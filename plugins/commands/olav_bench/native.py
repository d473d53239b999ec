"""Suite `native`: two JSON-lines files, memories and queries; docs/benchmarking.md has every field."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from olav_bench.fields import Faults, Row
from olav_bench.reading import read_lines
from olav_core import Draft, RecordError, Suite, SuiteQuery, build_registry

MEMORY_FIELDS = (
    "id", "text", "category", "scope", "tags", "origin", "metadata", "lang", "timestamp", "expires_at",
    "confidence",
)  # fmt: skip
QUERY_FIELDS = (
    "qid", "query", "agent", "teams", "scopes", "lang", "relevant", "forbidden", "kind", "split",
)  # fmt: skip
#: A kind that begins so says that nothing answers the query.
NEGATIVE = "negative"


def load(paths: Sequence[Path]) -> Suite:
    """Return the suite in two files; raises RecordError naming file, line and field of every fault."""
    if len(paths) != 2:
        raise RecordError(f"Suite native reads two files, MEMORIES QUERIES; there are {len(paths)} paths.")
    memories_path, queries_path = paths
    faults = Faults()
    memories: dict[str, Draft] = {}
    languages: dict[str, str] = {}
    places: dict[str, str] = {}
    categories = set(build_registry().categories)
    for number, row in read_lines(memories_path, faults):
        where = f"{memories_path}:{number}"
        key, draft, language = _memory(Row(row, where, MEMORY_FIELDS, faults), categories, number)
        if key and key in memories:
            faults.add(where, f"id {key!r} stands there twice. Give every memory its own.")
        memories[key], languages[key], places[key] = draft, language, where
    if not memories:
        faults.add(str(memories_path), "there is no memory in it.")
    queries = read_queries(queries_path, memories, faults)
    faults.check()
    return Suite(
        id="native",
        memories=memories,
        queries=queries,
        unit="memory",
        pool="the agent's scopes",
        languages=languages,
        places=places,
    )


def read_queries(path: Path, ids: Collection[str], faults: Faults) -> tuple[SuiteQuery, ...]:
    """Return the queries of a file; `ids` are those that `relevant` and `forbidden` may name. Faults are
    noted."""
    queries: dict[str, SuiteQuery] = {}
    for number, row in read_lines(path, faults):
        where = f"{path}:{number}"
        query = _query(Row(row, where, QUERY_FIELDS, faults), ids, row)
        if query.qid and query.qid in queries:
            faults.add(where, f"qid {query.qid!r} stands there twice. Give every query its own.")
        queries[query.qid] = query
    if not queries and not faults.lines:
        faults.add(str(path), "there is no query in it.")
    return tuple(queries.values())


def _memory(row: Row, categories: Collection[str], number: int) -> tuple[str, Draft, str]:
    draft = Draft(
        text=row.needed("text"),
        category=row.choice("category", categories, "fact"),
        scope=row.text("scope") or None,
        tags=row.texts("tags"),
        origin=row.text("origin", "user"),
        metadata=row.mapping("metadata"),
        confidence=row.number("confidence", 1.0),
        timestamp=row.text("timestamp") or None,
        expires_at=row.text("expires_at") or None,
        line=number,
    )
    return row.identifier("id"), draft, row.text("lang")


def _query(row: Row, ids: Collection[str], raw: dict[str, Any]) -> SuiteQuery:
    if "relevant" in raw and raw["relevant"] is None:
        row.faults.add(
            row.where,
            "'relevant' is null: this query is not labelled yet. List the ids that answer it, [] when "
            "nothing does, or delete the line.",
        )
    query = SuiteQuery(
        qid=row.identifier("qid"),
        query=row.needed("query"),
        relevant=frozenset(row.texts("relevant")),
        forbidden=frozenset(row.texts("forbidden")),
        agent=row.text("agent", "core"),
        teams=row.texts("teams"),
        scopes=row.texts("scopes") or None,
        kind=row.text("kind"),
        lang=row.text("lang"),
        split=row.choice("split", ("dev", "test")),
    )
    for name, named in (("relevant", query.relevant), ("forbidden", query.forbidden)):
        for key in sorted(named - set(ids)):
            row.faults.add(row.where, f"{name!r} names {key!r}: {key!r} is no memory's id.")
    if query.relevant & query.forbidden:
        both = sorted(query.relevant & query.forbidden)[0]
        row.faults.add(row.where, f"{both!r} is both 'relevant' and 'forbidden'.")
    if query.kind.startswith(NEGATIVE) and query.relevant:
        row.faults.add(row.where, f"'kind' is {query.kind!r}, but 'relevant' is not empty.")
    return query
