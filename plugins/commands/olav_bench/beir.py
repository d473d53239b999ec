"""Suite `beir`: corpus.jsonl, queries.jsonl and qrels in BEIR's layout
(https://github.com/beir-cellar/beir)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from olav_bench.reading import need, one_path, read_lines
from olav_core import Draft, RecordError, Suite, SuiteQuery


def load(paths: Sequence[Path]) -> Suite:
    """Return the suite of a folder; a document is its title, a blank and its text."""
    folder = one_path(paths, "the folder")
    relevant = _relevant(
        next((p for p in (folder / "qrels.tsv", folder / "qrels/test.tsv") if p.exists()), None)
    )
    memories = {}
    for number, row in read_lines(folder / "corpus.jsonl"):
        where = f"{folder / 'corpus.jsonl'}:{number}"
        text = f"{row.get('title') or ''} {need(row, 'text', where)}".strip()
        memories[str(need(row, "_id", where))] = Draft(text=text, category="fact", scope="global")
    queries = []
    for number, row in read_lines(folder / "queries.jsonl"):
        qid = str(need(row, "_id", f"{folder / 'queries.jsonl'}:{number}"))
        if qid in relevant:
            queries.append(
                SuiteQuery(qid=qid, query=row["text"], relevant=frozenset(relevant[qid] & set(memories)))
            )
    return Suite(
        id=folder.name, memories=memories, queries=tuple(queries), unit="document", pool="all documents"
    )


def _relevant(path: Path | None) -> dict[str, set[str]]:
    if path is None:
        raise RecordError("There is no qrels.tsv and no qrels/test.tsv in the folder.")
    relevant: dict[str, set[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        # BEIR: query, document, score; TREC: query, 0, document, score; a heading has no number
        if len(cells) in (3, 4) and cells[-1].strip().lstrip("-").isdigit() and int(cells[-1]) > 0:
            relevant.setdefault(cells[0], set()).add(cells[-2])
    return relevant
