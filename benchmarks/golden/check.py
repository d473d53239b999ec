"""Check the golden set: ids, labels against scopes, metadata against the categories; print what it holds.

    python benchmarks/golden/check.py

Prints every fault and exits with 1, or prints the counts of the datasheet and exits with 0.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import olav_core

FOLDER = Path(__file__).parent
NEGATIVES = frozenset({"negative_easy", "negative_hard"})
KINDS = NEGATIVES | {
    "paraphrase",
    "identifier",
    "terse",
    "typo",
    "multi",
    "cross",
    "scope_trap",
    "reflection",
}

Row = Mapping[str, Any]


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def split_of(qid: str) -> str:
    """Return the half that a query belongs to: the parity of sha256(qid)."""
    return "test" if hashlib.sha256(qid.encode()).digest()[-1] % 2 else "dev"


def visible_scopes(query: Row) -> set[str]:
    return {query["agent"], "global", *(f"team:{team}" for team in query.get("teams", ()))}


def is_cross(query: Row, memories: Mapping[str, Row]) -> bool:
    """Whether no relevant memory is in the language of the query."""
    languages = {memories[id]["lang"] for id in query["relevant"]}
    return bool(languages) and query["lang"] != "mixed" and query["lang"] not in languages


def speaks(text: str, language: str) -> bool:
    """Whether a text can be in `language`: Chinese has Han characters, English none, mixed both and Latin."""
    han, latin = bool(re.search(r"[\u4e00-\u9fff]", text)), bool(re.search(r"[A-Za-z]{2}", text))
    return {"zh": han, "en": not han, "mixed": han and latin}.get(language, False)


def repeated(values: Sequence[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def memory_faults(memories: Sequence[Row]) -> Iterator[str]:
    """Yield what the product would refuse or store as one row with another."""
    stored: dict[str, str] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        olav_core.init(Path(folder), embedder="hashing") as memory,
    ):
        for row in memories:
            if row["lang"] == "mixed" or not speaks(row["text"], row["lang"]):
                yield f"{row['id']}: language {row['lang']!r}"
            fields = {name: value for name, value in row.items() if name not in ("id", "lang")}
            try:
                record = memory.prepare(olav_core.Draft(**{**fields, "tags": tuple(row["tags"])}))
            except olav_core.OlavError as error:
                yield f"{row['id']}: {error}"
                continue
            if record.scope != row["scope"]:
                yield f"{row['id']}: scope {row['scope']!r} would be stored as {record.scope!r}"
            if record.id in stored:
                yield f"{row['id']}: the same memory as {stored[record.id]}"
            stored[record.id] = row["id"]


def query_faults(query: Row, memories: Mapping[str, Row]) -> Iterator[str]:
    """Yield what is wrong with one query and its labels."""
    if query["kind"] not in KINDS:
        yield f"kind {query['kind']!r}"
    if not speaks(query["query"], query["lang"]):
        yield f"language {query['lang']!r}"
    if query["split"] != split_of(query["qid"]):
        yield f"split {query['split']!r} is not the hash's"
    if (query["kind"] in NEGATIVES) != (not query["relevant"]):
        yield "negative queries, and only they, have no relevant memory"
    labels = [*query["relevant"], *query["forbidden"]]
    yield from (f"{id} is listed twice" for id in repeated(labels))
    unknown = [id for id in labels if id not in memories]
    yield from (f"there is no memory {id}" for id in unknown)
    if unknown:
        return
    scopes = visible_scopes(query)
    injectable = {
        id for id in labels if memories[id]["scope"] in scopes and memories[id]["category"] != "audit"
    }
    yield from (f"relevant {id} cannot be injected" for id in query["relevant"] if id not in injectable)
    yield from (f"forbidden {id} can be injected" for id in query["forbidden"] if id in injectable)
    if query["kind"] == "scope_trap" and not query["forbidden"]:
        yield "a scope trap forbids something"
    if query["kind"] == "multi" and len(query["relevant"]) < 2:
        yield "a multi query has several relevant memories"
    if query["kind"] == "cross" and not is_cross(query, memories):
        yield "a relevant memory is in the language of the query"
    if query["kind"] == "reflection" and not any(
        memories[id]["category"] == "reflection" for id in query["relevant"]
    ):
        yield "no relevant memory is a reflection"


def faults(memories: Sequence[Row], queries: Sequence[Row]) -> Iterator[str]:
    by_id = {row["id"]: row for row in memories}
    yield from (f"memory {id}: twice" for id in repeated([row["id"] for row in memories]))
    yield from (f"query {qid}: twice" for qid in repeated([row["qid"] for row in queries]))
    asked = [json.dumps([row["query"], row["agent"], row.get("teams", [])]) for row in queries]
    yield from (f"asked twice: {json.loads(item)}" for item in repeated(asked))
    yield from (f"memory {fault}" for fault in memory_faults(memories))
    for query in queries:
        yield from (f"query {query['qid']}: {fault}" for fault in query_faults(query, by_id))


def report(memories: Sequence[Row], queries: Sequence[Row]) -> None:
    by_id = {row["id"]: row for row in memories}
    tables = {
        f"{len(memories)} memories by category": Counter(row["category"] for row in memories),
        "memories by language": Counter(row["lang"] for row in memories),
        "memories by scope": Counter(row["scope"] for row in memories),
        f"{len(queries)} queries by kind": Counter(row["kind"] for row in queries),
        "queries by language": Counter(row["lang"] for row in queries),
        "queries by half": Counter(row["split"] for row in queries),
        "queries whose memories are in the other language": Counter(
            f"asked in {row['lang']}" for row in queries if is_cross(row, by_id)
        ),
        "relevant memories of a query": Counter(str(len(row["relevant"])) for row in queries),
    }
    for title, counts in tables.items():
        print(f"{title}: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))


def main() -> int:
    memories, queries = rows("memories.jsonl"), rows("queries.jsonl")
    found = list(faults(memories, queries))
    if found:
        print("\n".join(found), file=sys.stderr)
        return 1
    report(memories, queries)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
