"""A copy of a live workspace's rows in a store of one's own: the live one is read, never written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

import olav_core
from olav_bench.configuration import settings_from
from olav_core import OlavError, RecordError, Settings, WorkspaceError, build_registry

if TYPE_CHECKING:
    from olav_bench.cached_embedder import CachedEmbedder
    from olav_core import Memory

#: Rows that are read and written together.
BATCH = 512


def live_settings(workspace: Path, changes: Sequence[str] = ()) -> Settings:
    """Return the settings of a live workspace, its OLAV_* variables included, with `KEY.PATH=VALUE` changes
    and nothing that writes."""
    config = workspace / ".olav" / "config.yaml"
    if not (workspace / ".olav").is_dir():
        raise WorkspaceError(f"{workspace} has no .olav folder. Name the folder of a workspace.")
    settings = settings_from(config if config.exists() else None, changes, dict(os.environ))
    recall = evolve(settings.recall, log=False, log_queries=False)
    return evolve(settings, recall=recall, store=evolve(settings.store, maintain_after=0))


def open_live(workspace: Path) -> Memory:
    """Open a live workspace to read its rows and logs. Whoever recalls from it writes its index: don't."""
    registry = build_registry(plugin_dir=workspace / ".olav" / "plugins")
    return olav_core.open(workspace, registry=registry, settings=live_settings(workspace), complete=False)


def copy_rows(
    workspace: Path, target: Memory, embedder: CachedEmbedder, on_write: Callable[[int, int], None]
) -> Mapping[str, tuple[str, ...]]:
    """Write the live rows into `target`, ids and times as they are; return id -> (id,).

    Vectors of the target's own space are taken over, others are embedded. Rows of categories that no plug-in
    brings are left out: they are never recalled. Raises RecordError for a row that cannot be written.
    """
    with open_live(workspace) as live:
        records = [record for record in live.list() if record.category in target.categories]
        same_space = _fingerprint(live) == _fingerprint(target)
        calibration = live.store.calibrations.current() if same_space else None
        if calibration is not None:  # bound to a fingerprint whose canaries differ in their last bits
            target.apply_calibration(evolve(calibration, fingerprint=target.store.fingerprint))
        written: dict[str, tuple[str, ...]] = {}
        for start in range(0, len(records), BATCH):
            batch = records[start : start + BATCH]
            if same_space:
                vectors = live.store.vectors([record.id for record in batch])
                embedder.keep(
                    {record.search_text: vectors[record.id] for record in batch if record.id in vectors}
                )
            for record, outcome in zip(batch, target.write(batch, settle=False), strict=True):
                if outcome.error is not None:
                    raise RecordError(f"{record.id} of {workspace} cannot be copied: {outcome.error}")
                written[record.id] = (record.id,)
            on_write(len(written), len(records))
    return written


def _fingerprint(memory: Memory) -> dict[str, object]:
    """Return what tells the space of a store, without the canaries: they may differ in the last bits."""
    import json

    try:
        values: dict[str, object] = json.loads(memory.store.fingerprint)
    except ValueError as error:
        raise OlavError("the store's fingerprint is damaged. Run `olav doctor`.") from error
    values.pop("canaries", None)
    return values
