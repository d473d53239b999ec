"""The status of a workspace: what the store holds, in which space, how large, how far the index is."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict

from olav_core.embedding.fingerprint import Fingerprint
from olav_core.store.lock import local_path
from olav_core.store.reembed import kept

if TYPE_CHECKING:
    from olav_core.memory import Memory


def status(memory: Memory) -> dict[str, Any]:
    """Return the object of `olav kb status --json`; brings the index up to date first.

    `orphans` counts rows whose category no installed plug-in has: kept, listed, not injected. `bytes` is None
    for a store that is not on a local file system; `maintenance` is how it went last, in any process.
    """
    store = memory.store
    coverage = memory.index_coverage()
    counts = store.counts()
    categories: Counter[str] = Counter()
    scopes: Counter[str] = Counter()
    for (category, scope), rows in counts.items():
        categories[category] += rows
        scopes[scope] += rows
    space = Fingerprint.from_json(store.fingerprint)
    directory = local_path(store.uri)
    size = None
    if directory is not None:
        size = _size(directory)
    return {
        "workspace": str(memory.workspace.root),
        "uri": store.uri,
        "rows": sum(categories.values()),
        "categories": dict(sorted(categories.items())),
        "scopes": dict(sorted(scopes.items())),
        "orphans": {name: rows for name, rows in sorted(categories.items()) if name not in memory.categories},
        "embedder": {
            "configured": memory.embedder.id,
            "stored": space.embedder,
            "model": space.name,
            "dimension": space.dimension,
            "kept_spaces": kept(store),
        },
        "versions": len(store.table.list_versions()),
        "maintenance": asdict(store.upkeep.state()),
        "bytes": size,
        "index": asdict(coverage),
    }


def _size(directory: Path) -> int:
    """Return the bytes of all files below; clean-up by another process takes files away meanwhile."""
    size = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                size += os.stat(os.path.join(folder, name)).st_size
    return size
