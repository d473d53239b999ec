"""Running a suite through the product's own write and recall paths, in a store that is made for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import olav_core
from olav_bench.answer import Answer
from olav_bench.asking import SuiteIds, ask
from olav_bench.cached_embedder import with_cache
from olav_bench.configuration import Configuration
from olav_bench.fields import Faults
from olav_bench.fitting import fitted
from olav_bench.live_copy import copy_rows
from olav_bench.report import report
from olav_bench.selection import select_queries
from olav_bench.vector_cache import cache_directory
from olav_core import Registry, Suite, build_registry

if TYPE_CHECKING:
    from olav_core import Memory

__all__ = ["Configuration", "cache_directory", "filled", "measure", "run", "select_queries"]

Progress = Callable[[int, int], None]


def nothing(done: int, total: int) -> None:
    """Show no progress."""


def run(suite: Suite, configuration: Configuration, **options: Any) -> list[Answer]:
    """Store the suite's memories in a new store and ask its queries; one answer each, in order. `options` are
    those of `measure`."""
    return _asked(suite, configuration, **options)[0]


def measure(suite: Suite, configuration: Configuration, **options: Any) -> dict[str, Any]:
    """Run the suite and return the report: see report.report.

    Options: `cache`, the folder that keeps passage vectors, so that texts are embedded once per embedding
    space and an interrupted run goes on; `registry`, the plug-ins; `on_write`, `on_query`, progress. Raises
    RecordError naming the place of the first memory that the store refuses.
    """
    answers, about = _asked(suite, configuration, **options)
    return report(suite, configuration, answers, registry=options.get("registry"), **about)


def _asked(
    suite: Suite,
    configuration: Configuration,
    *,
    cache: Path | None = None,
    registry: Registry | None = None,
    on_write: Progress = nothing,
    on_query: Progress = nothing,
) -> tuple[list[Answer], dict[str, Any]]:
    known = registry or build_registry()
    suite, notes = fitted(suite, configuration.applied().apply_to(known))
    with filled(suite, configuration, cache=cache, registry=registry, on_write=on_write) as (memory, ids):
        memory.recall("warm up", log=False)
        answers = []
        for number, query in enumerate(suite.queries, 1):
            answers.append(ask(memory, query, ids, configuration))
            on_query(number, len(suite.queries))
        records = memory.list()
        now = datetime.now(UTC)
        rows = {key: (record.text, record.category) for record in records for key in ids.get(record.id, ())}
        expired = sum(record.expires_at is not None and record.expires_at <= now for record in records)
        return answers, {"rows": rows, "expired": expired, "fitted": notes}


@contextmanager
def filled(
    suite: Suite,
    configuration: Configuration,
    *,
    cache: Path | None = None,
    registry: Registry | None = None,
    on_write: Progress = nothing,
) -> Iterator[tuple[Memory, SuiteIds]]:
    """Give an open memory that holds the suite's memories, and the suite ids of its rows. Its workspace is
    temporary: nothing is left, and a live workspace is only read."""
    if registry is None:
        live = suite.workspace / ".olav" / "plugins" if suite.workspace else None
        registry = build_registry(plugin_dir=live)
    for tier in configuration.tiers:
        olav_core.check_tier(tier)
    registry, made = with_cache(registry, configuration.embedder, cache or cache_directory())
    settings = configuration.applied()
    with TemporaryDirectory(prefix="olav-bench-") as folder:
        olav_core.init(
            folder,
            embedder=configuration.embedder,
            options=configuration.embedder_options,
            registry=registry,
        ).close()
        with olav_core.open(folder, registry=registry, settings=settings) as memory:
            if suite.workspace is not None:
                memory.check_space()  # makes the embedder
                ids = copy_rows(suite.workspace, memory, made[-1], on_write)
            else:
                ids = _store(memory, suite, on_write)
            yield memory, ids


def _store(memory: Memory, suite: Suite, on_write: Progress) -> SuiteIds:
    outcomes = memory.remember_many(suite.memories.values(), on_progress=on_write)
    suite_ids: dict[str, tuple[str, ...]] = {}
    faults = Faults()
    for key, outcome in zip(suite.memories, outcomes, strict=True):
        if outcome.error is not None:
            where = suite.places.get(key, f"suite {suite.id}")
            faults.add(where, f"memory {key!r} is refused: {' '.join(str(outcome.error).split())}")
        suite_ids[outcome.id] = (*suite_ids.get(outcome.id, ()), key)
    faults.check()
    return suite_ids
