"""Checks of the tables: do they open, is every row whole and there once, what lies about."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from olav_core import clock
from olav_core.doctor.diagnosis import Diagnosis, counted, error, memories, ok, warning
from olav_core.doctor.patient import Patient
from olav_core.store import filters, tables
from olav_core.store.reembed import kept
from olav_core.store.upkeep import DUE_MOST

if TYPE_CHECKING:
    from olav_core.store.store import Store

#: Expired rows are not recalled, so a few that wait for the next maintenance are nothing to report.
EXPIRED_WAIT = timedelta(days=1)
MANY_VERSIONS = 2 * DUE_MOST


def opens(patient: Patient) -> Iterable[Diagnosis]:
    """The table `memory` is there, readable, and olav's own."""
    store = patient.store
    yield ok(f"{store.uri}: {memories(store.count())}, version {store.version}")


def rows(patient: Patient) -> Iterable[Diagnosis]:
    """Every row can be read, whole, with a vector that search can find, and no id is there twice."""
    import numpy as np

    from olav_core.store import schema

    store = patient.store
    seen: set[str] = set()
    total = bad = 0
    try:
        for part in store.batches(store.schema.names):
            seen.update(part.column("id").to_pylist())
            total += part.num_rows
            vectors = part.column("vector")
            norms = np.linalg.norm(schema.matrix(vectors.drop_null()), axis=1)
            bad += vectors.null_count + int((~np.isfinite(norms) | (norms == 0)).sum())
    except Exception as failure:
        yield error(
            f"rows of {store.uri} cannot be read: {' '.join(str(failure).split())[:300]}",
            "Stop the writers, then restore the database directory from a backup (docs/operations.md).",
        )
        return
    if len(seen) < total:
        yield error(
            f"{counted(total - len(seen), 'row')} with an id that is there already: not written by olav",
            "Restore the database directory from a backup (docs/operations.md).",
        )
    if bad:
        yield error(f"{memories(bad)} without a usable vector: found by words only", "Run `olav kb reembed`.")
    if len(seen) == total and not bad:
        yield ok(f"{counted(total, 'row')} read, every id once, every vector usable")


def side_tables(patient: Patient) -> Iterable[Diagnosis]:
    """The recall log and the tombstones are there."""
    store = patient.store
    listed = tables.table_names(store.database)
    missing = [name for name in (tables.RECALL_LOG, tables.TOMBSTONE) if name not in listed]
    for name in missing:
        lost = "erased texts could come back" if name == tables.TOMBSTONE else "who was shown what is lost"
        yield warning(
            f"table {name} is missing: {lost}",
            f"Restore {name}.lance from a backup; `olav doctor --repair` creates it empty.",
            lambda name=name: _create(patient, name),  # type: ignore[misc]
        )
    for name in (tables.RECALL_LOG, tables.TOMBSTONE):
        if name not in missing:
            count = store.side_table(name).count_rows()
            yield ok(f"table {name}: {counted(count, 'row')}")


def leftovers(patient: Patient) -> Iterable[Diagnosis]:
    """Vectors of other embedders: kept on purpose, or left by a re-embed that was killed."""
    store = patient.store
    names = kept(store)
    for name in names:
        table = tables.open_if_whole(store.database, name)
        if table is None:
            yield warning(
                f"table {name} is the rest of a deletion that was cut off",
                "Run `olav kb optimize`.",
                lambda: _optimize(patient),
            )
            continue
        rows = table.count_rows()
        yield warning(
            f"table {name} keeps {counted(rows, 'vector')} of another embedder: a way back, or a move cut",
            "`olav kb reembed --to ID` goes on with a move; `olav kb reembed --purge` deletes them.",
        )
    unknown = set(tables.table_names(store.database)) - set(names)
    unknown -= {tables.MEMORY, tables.RECALL_LOG, tables.TOMBSTONE, tables.CALIBRATION}
    unknown -= {tables.QUERY_LOG, tables.FEEDBACK}
    for name in sorted(unknown):
        yield warning(f"table {name} is not olav's", "Move it elsewhere if nothing else uses it.")
    if not names and not unknown:
        yield ok("no table lies about")


def versions(patient: Patient) -> Iterable[Diagnosis]:
    """Versions and bytes stay bounded."""
    store = patient.store
    counts = store.upkeep.versions()
    size = ""
    if patient.database is not None:
        used = sum(path.stat().st_size for path in patient.database.rglob("*") if path.is_file())
        size = f", {used / 2**20:,.1f} MB"
    text = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    tags = store.table.tags.list()
    if tags:
        yield warning(
            f"tags {', '.join(sorted(tags))} hold old versions: nothing newer than the oldest is cleaned up",
            "Delete tags that nobody needs.",
        )
    if max(counts.values(), default=0) > MANY_VERSIONS:
        yield warning(f"many versions: {text}{size}", "Run `olav kb optimize`.", lambda: _optimize(patient))
    else:
        yield ok(f"versions: {text}{size}")


def maintenance(patient: Patient) -> Iterable[Diagnosis]:
    """The last maintenance went through, in whatever process it ran."""
    state = patient.store.upkeep.state()
    for failure in state.failures:
        times = f", {state.failed_in_a_row} times in a row" if state.failed_in_a_row else ""
        yield error(
            f"the last maintenance failed{times}: {failure}",
            "Mend the cause, then run `olav kb optimize`.",
            lambda: _optimize(patient),
        )
    if not state.failures:
        when = f"{datetime.fromtimestamp(state.at):%Y-%m-%d %H:%M}" if state.at else "not yet"
        yield ok(f"last maintenance: {when}")


def expired(patient: Patient) -> Iterable[Diagnosis]:
    """Expired rows are cleaned up."""
    store, now = patient.store, clock.now()
    waiting = store.table.count_rows(filters.until("expires_at", now))
    late = store.table.count_rows(filters.until("expires_at", now - EXPIRED_WAIT)) if waiting else 0
    if late:
        yield warning(
            f"{memories(late)} expired more than a day ago, not recalled, waiting for maintenance",
            "Run `olav kb optimize`.",
            lambda: _optimize(patient),
        )
    else:
        yield ok(f"{memories(waiting)} expired, not deleted yet" if waiting else "nothing has expired")


def _create(patient: Patient, name: str) -> str:
    with _opened(patient) as store:
        store.side_table(name)
    return f"created {name}, empty"


def _optimize(patient: Patient) -> str:
    with _opened(patient) as store:
        report = store.optimize()
    if report.failures:
        return "failed: " + "; ".join(report.failures)
    return f"optimized: {counted(report.versions, 'version')} left, {memories(report.expired)} expired"


def _opened(patient: Patient) -> Store:
    from olav_core.store.store import Store

    return Store.open(patient.uri, storage_options=patient.settings.store.storage_options or None)
