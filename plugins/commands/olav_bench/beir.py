"""Suite `beir`: corpus.jsonl, queries.jsonl and qrels in BEIR's layout
(https://github.com/beir-cellar/beir)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from olav_bench.fields import Faults, Row
from olav_bench.reading import one_path, read_lines
from olav_core import Draft, RecordError, Suite, SuiteQuery

QRELS = ("qrels.tsv", "qrels/test.tsv")


def load(paths: Sequence[Path]) -> Suite:
    """Return the suite of a folder; a document is its title, a blank and its text. Queries without a judged
    document are left out."""
    folder = one_path(paths, "the folder")
    faults = Faults()
    relevant = _relevant(folder, faults)
    memories: dict[str, Draft] = {}
    places: dict[str, str] = {}
    for number, raw in read_lines(folder / "corpus.jsonl", faults):
        row = Row(raw, f"{folder / 'corpus.jsonl'}:{number}", ("_id", "title", "text"), faults)
        key, title = row.identifier("_id"), row.text("title")
        text = row.text("text") if title else row.needed("text")
        memories[key] = Draft(text=f"{title} {text}".strip(), category="fact", scope="global")
        places[key] = row.where
    queries = []
    for number, raw in read_lines(folder / "queries.jsonl", faults):
        row = Row(raw, f"{folder / 'queries.jsonl'}:{number}", ("_id", "text"), faults)
        qid, query = row.identifier("_id"), row.needed("text")
        if qid in relevant:
            queries.append(SuiteQuery(qid=qid, query=query, relevant=frozenset(relevant[qid])))
            unknown = sorted(relevant[qid] - set(memories))
            if unknown:
                faults.add(f"{folder}: qrels of query {qid!r}", f"{unknown[0]!r} is no _id of corpus.jsonl.")
    if not queries and not faults.lines:
        faults.add(str(folder / "queries.jsonl"), "no query of it is judged in the qrels.")
    faults.check()
    return Suite(
        id=folder.resolve().name,
        memories=memories,
        queries=tuple(queries),
        unit="document",
        pool="all documents",
        places=places,
    )


def _relevant(folder: Path, faults: Faults) -> dict[str, set[str]]:
    path = next((folder / name for name in QRELS if (folder / name).exists()), None)
    if path is None:
        raise RecordError(f"There is no {QRELS[0]} and no {QRELS[1]} in {folder}.")
    relevant: dict[str, set[str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        cells = line.split("\t") if "\t" in line else line.split()
        judged = len(cells) in (3, 4) and cells[-1].strip().lstrip("-").isdigit()
        if not judged:
            if cells and number > 1:  # the first line may be a heading
                faults.add(f"{path}:{number}", "not QUERY, DOCUMENT, SCORE or QUERY, 0, DOCUMENT, SCORE.")
        elif int(cells[-1]) > 0:
            relevant.setdefault(cells[0], set()).add(cells[-2])
    return relevant
