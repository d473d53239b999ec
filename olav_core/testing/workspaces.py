"""Workspaces for tests: a real store in a folder, the hashing embedder, plug-ins of your choice."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from olav_core.agents import DEFAULT_AGENT
from olav_core.index.pool import Candidate, Pool
from olav_core.index.token_store import TokenStore
from olav_core.memory import Memory
from olav_core.opening import init, open
from olav_core.recall.lexicons import Lexicons
from olav_core.recall.query import Query
from olav_core.recall.token_vectors import TokenVectors
from olav_core.records import GLOBAL_SCOPE, MemoryRecord, memory_id
from olav_core.testing.plugin_under_test import Plugin, registry_with
from olav_core.text.analyzer import query_terms
from olav_core.text.language import language_of

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray


def open_workspace(
    path: str | os.PathLike[str],
    *plugins: Plugin,
    embedder: str = "hashing",
    options: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
) -> Memory:
    """Make a workspace at `path` with the installed plug-ins and these, and return it open.

    `config` is laid over `.olav/config.yaml`, section by section: `{"recall": {"tier": "large"}}`. Close the
    memory, or use it in a `with` block.
    """
    registry = registry_with(*plugins)
    memory = init(path, embedder=embedder, options=options, registry=registry)
    if not config:
        return memory
    memory.close()
    _lay_over(memory.workspace.config_path, config)
    return open(memory.workspace.root, registry=registry)


@contextmanager
def temporary_workspace(*plugins: Plugin, **options: Any) -> Iterator[Memory]:
    """Open a workspace in a folder that is removed afterwards."""
    with TemporaryDirectory(prefix="olav-") as folder, open_workspace(folder, *plugins, **options) as memory:
        yield memory


def _lay_over(path: Path, config: Mapping[str, Any]) -> None:
    import yaml

    present = yaml.safe_load(path.read_text("utf-8")) or {}
    for section, values in config.items():
        old = present.get(section)
        both = isinstance(old, dict) and isinstance(values, Mapping)
        present[section] = {**old, **values} if both else values  # type: ignore[dict-item]
    path.write_text(yaml.safe_dump(present, allow_unicode=True), "utf-8")


@frozen(kw_only=True)
class RecallState:
    """What rankers and gates see in one recall."""

    query: Query
    pool: Pool
    legs: Mapping[str, FloatArray]
    candidates: list[Candidate]


def recall_state(memory: Memory, text: str, *, agent: str = DEFAULT_AGENT) -> RecallState:
    """Return the query, the pool, the legs' scores and the candidates of a recall for `text`, best first."""
    index = memory.index
    index.sync()
    query = make_query(text, agent=agent)
    pool = index.pool(query.scopes, now=query.now)
    vector = index.center_query(memory.embedder.query(text), query.language)
    query = evolve(query, vector_source=lambda: vector)
    legs = {"vector": pool.cosine(vector), "bm25": pool.lexical(query.terms)}
    tokens = TokenVectors(memory.embedder, lambda identity: TokenStore(None, identity))
    folders = [spec.folder for spec in memory.registry.lexicons.values()]
    lexicons = Lexicons([*folders, memory.workspace.lexicon_directory])
    query = evolve(query, categories=memory.categories, token_source=tokens, lexicons=lexicons)
    if not pool.size:
        return RecallState(query=query, pool=pool, legs=legs, candidates=[])
    candidates = pool.load(pool.top(legs["vector"] + legs["bm25"], per_category=10))
    for candidate in candidates:
        candidate.distance = max(0.0, 2.0 - 2.0 * float(candidate.vector @ vector))
        candidate.leg_scores = {name: float(scores[candidate.row]) for name, scores in legs.items()}
    tokens.fill(candidate.record.search_text for candidate in candidates)
    return RecallState(query=query, pool=pool, legs=legs, candidates=candidates)


def make_query(text: str, *, agent: str = DEFAULT_AGENT, **fields: Any) -> Query:
    """Return a Query as the pipeline makes it, without a vector unless `vector_source` is given."""
    from olav_core import clock

    fields.setdefault("now", clock.now().timestamp())
    fields.setdefault("scopes", tuple(dict.fromkeys((agent, GLOBAL_SCOPE))))
    return Query(text=text, agent=agent, language=language_of(text), terms=tuple(query_terms(text)), **fields)


def make_candidate(
    text: str = "a memory",
    *,
    category: str = "fact",
    metadata: Mapping[str, Any] | None = None,
    distance: float | None = 0.5,
    canonical_distance: float | None = None,
    keyword_strength: float = 0.0,
    score: float = 1.0,
    **record: Any,
) -> Candidate:
    """Return a candidate for a gate: the memory is made from the text, metadata and other record fields."""
    identifier = record.pop("id", memory_id(category, record.get("scope"), text))
    memory = MemoryRecord(
        id=identifier, text=text, search_text=text, category=category, metadata=dict(metadata or {}), **record
    )
    return Candidate(
        row=0,
        id=identifier,
        category=category,
        scope=memory.scope,
        score=score,
        fused=score,
        distance=distance,
        canonical_distance=canonical_distance,
        keyword_strength=keyword_strength,
        record=memory,
    )
