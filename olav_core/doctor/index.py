"""The check of the recall index: does what lies on disk cover the table."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from olav_core.doctor.diagnosis import Diagnosis, memories, ok, warning
from olav_core.doctor.patient import Patient
from olav_core.index.index_files import BrokenIndexError
from olav_core.index.lexical import LexicalIndex
from olav_core.index.lexical_sync import FOLD_ROWS, LexicalSync, digest, identity_of
from olav_core.store.store import Store

_HOW = "`olav doctor --repair` does it now, the next recall does it by itself."


def coverage(patient: Patient) -> Iterable[Diagnosis]:
    """Every row is in the lexical index as it is in the table. Resident vectors are made anew by each
    process."""
    store, directory = patient.store, patient.workspace.index_directory

    def rebuild() -> str:
        return _rebuild(patient)

    if not (directory / "meta.json").is_file():
        rows = store.count()
        if rows > FOLD_ROWS:
            yield warning(f"no index on disk for {memories(rows)}", f"Build it: {_HOW}", rebuild)
        else:
            yield ok(f"no index on disk yet: {memories(rows)}, scored in memory")
        return
    try:
        snapshot = LexicalIndex(directory, identity_of(store.uri), only_read=True).snapshot
        indexed = snapshot.entries()
    except BrokenIndexError as failure:
        yield warning(f"the index on disk cannot be used: {failure}", f"Rebuild it: {_HOW}", rebuild)
        return
    rows = current = 0
    for part in store.batches(["category", "scope", "search_text"]):
        columns = (part.column(name).to_pylist() for name in ("_rowid", "category", "scope", "search_text"))
        for rowid, category, scope, text in zip(*columns, strict=True):
            rows += 1
            current += indexed.pop(rowid, None) == digest(category, scope, text)
    figures = (
        f"{current} of {memories(rows)} indexed ({current / rows:.0%})" if rows else "no memories"
    ) + f", index at version {snapshot.covered}, table at {store.version}"
    behind = rows - current + len(indexed)
    if behind > FOLD_ROWS:
        yield warning(
            f"{figures}: {rows - current} not indexed as they are, {len(indexed)} indexed that are gone",
            f"Catch up: {_HOW}",
            rebuild,
        )
    else:
        yield ok(figures)


def _rebuild(patient: Patient) -> str:
    directory = patient.workspace.index_directory
    with Store.open(patient.uri, storage_options=patient.settings.store.storage_options or None) as store:
        shutil.rmtree(directory, ignore_errors=True)
        lexical = LexicalSync(directory, identity_of(store.uri))
        version = store.refresh()
        lexical.begin(version, all_rows=True)
        rows = 0
        for part in store.changed_since(None):
            names = ("_rowid", "search_text", "scope", "category")
            rowids, texts, scopes, categories = (part.column(name).to_pylist() for name in names)
            digests = [digest(*row) for row in zip(categories, scopes, texts, strict=True)]
            lexical.put(rowids, texts, scopes, categories, digests)
            rows += part.num_rows
        if not lexical.fold(version):
            return "failed: another process holds the index; it builds it"
    return f"rebuilt the index of {memories(rows)}"
