"""Planning a run: the suite's queries and the configurations that a command line or a test asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import frozen

from olav_bench.configuration import Configuration, settings_from
from olav_bench.configuration import chains as chains_of
from olav_bench.live_copy import live_settings
from olav_bench.selection import select_queries
from olav_bench.vector_cache import cache_directory
from olav_core import OlavError, Registry, Settings, Suite, build_registry, check_tier


@frozen(kw_only=True)
class Plan:
    """A suite with the queries to ask, and the configurations to ask them under."""

    suite: Suite
    configurations: tuple[Configuration, ...]
    registry: Registry


def plan(
    suite: str,
    paths: Sequence[Path],
    *,
    embedders: str | None = None,
    options: Mapping[str, Any] | None = None,
    chains: Sequence[str] = (),
    changes: Sequence[str] = (),
    settings: Path | None = None,
    tiers: str = "small,medium,large",
    category: str | None = None,
    kind: str | None = None,
    split: str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Plan:
    """Return what to run. Everything that a command line can get wrong raises here, before anything is
    run."""
    registry = build_registry()
    loaded = registry.suite(suite).load(paths)
    if loaded.workspace is not None:
        registry = build_registry(plugin_dir=loaded.workspace / ".olav" / "plugins")
    base = _settings(loaded, settings, changes)
    base.apply_to(registry)
    if category is not None:
        registry.category(category)
    own = base.embedder if loaded.workspace is not None else None
    names = words(embedders or "") or ((own.id,) if own else ("e5",))
    for name in names:
        registry.embedder(name)
    chosen = tuple(check_tier(tier) for tier in words(tiers))
    configurations = tuple(
        Configuration(
            embedder=name,
            embedder_options=_options(name, names, options or {}, own),
            rankers=chain,
            label="+".join(filter(None, (name, label))),
            tiers=chosen,
            category=category,
            settings=base,
        )
        for name in names
        for label, chain in chains_of(chains, base.recall.rankers, registry)
    )
    return Plan(
        suite=select_queries(loaded, split=split, kind=kind, limit=limit, seed=seed),
        configurations=configurations,
        registry=registry,
    )


def replay_plan(
    workspace: Path,
    embedder: str | None,
    options: Mapping[str, Any],
    chain: str | None,
    changes: Sequence[str],
) -> tuple[Registry, Configuration, Configuration]:
    """Return the registry of a live workspace, its own configuration, and the one to replay under."""
    registry = build_registry(plugin_dir=workspace / ".olav" / "plugins")
    own, changed = live_settings(workspace), live_settings(workspace, changes)
    changed.apply_to(registry)
    name = embedder or own.embedder.id
    registry.embedder(name)
    found = chains_of([chain] if chain else [], changed.recall.rankers, registry)
    if len(found) > 1:
        raise OlavError(f"--ranker {chain!r} is several configurations. A replay compares with one.")
    (label, rankers) = found[0]
    before = Configuration(
        embedder=own.embedder.id, embedder_options=own.embedder.options, settings=own, label="as it is"
    )
    after = Configuration(
        embedder=name,
        embedder_options=_options(name, [name], options, own.embedder),
        rankers=rankers,
        settings=changed,
        label="+".join(filter(None, (name, label, *changes))),
    )
    return registry, before, after


def where_kept(cache: Path | None, found: Sequence[Mapping[str, Any]]) -> Path:
    """Return where a report without --output goes: `reports/SUITE-NAME-TIME.json` below the cache."""
    name = re.sub(r"[^\w.+-]", "_", f"{found[0]['suite']}-{found[0]['configuration']['name']}")[:80]
    when = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    return (cache or cache_directory()) / "reports" / f"{name}-{when}.json"


def words(text: str) -> tuple[str, ...]:
    """Return the words of a comma list, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _settings(suite: Suite, path: Path | None, changes: Sequence[str]) -> Settings:
    if suite.workspace is None:
        return settings_from(path, changes, {})
    if path is not None:
        raise OlavError("The workspace has its own settings: leave --settings out, or use --set KEY=VALUE.")
    return live_settings(suite.workspace, changes)


def _options(name: str, names: Sequence[str], given: Mapping[str, Any], own: Any) -> dict[str, Any]:
    """Return the options of one embedder: `ID.KEY` is for that one alone, the others are for all."""
    found = dict(own.options) if own is not None and own.id == name else {}
    for key, item in given.items():
        owner, dot, rest = key.partition(".")
        if dot and owner in names:
            if owner == name:
                found[rest] = item
        else:
            found[key] = item
    return found
