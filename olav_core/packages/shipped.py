"""Shipped directives: what distributions and installed packages bring, as opposed to what a team wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from olav_core.errors import EmbeddingSpaceMismatchError
from olav_core.importing.directory import import_directory
from olav_core.importing.report import ImportReport
from olav_core.importing.source import place_of
from olav_core.records import MemoryRecord

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: Below `.olav`: where the files of a DirectiveSpec count as lying. There is no such folder on disk.
SHIPPED = "shipped"


def prime_directives(
    memory: Memory, *, on_progress: Callable[[int, int], None] | None = None
) -> list[ImportReport]:
    """Bring the rows of every registered DirectiveSpec up to date; return one report each.

    A guide that an operator forgot stays out, one that a team's own file replaces stays the team's. Raises
    EmbeddingSpaceMismatchError unless the store holds nothing but shipped rows; see `settle_space`.
    """
    settle_space(memory)
    return [
        import_directory(
            memory,
            spec.folder,
            importers=directive_importers(memory),
            workspace=memory.workspace.root,
            home=memory.workspace.directory / SHIPPED / spec.id,
            yields=True,
            on_progress=on_progress,
        )
        for spec in memory.registry.directives.values()
    ]


def directive_importers(memory: Memory) -> list[str]:
    """Return the ids of the importers of files that tell agents what to do."""
    return [spec.id for spec in memory.registry.importers.values() if spec.directive]


def is_shipped(memory: Memory, row: MemoryRecord) -> bool:
    """Tell whether a row came from a distribution or an installed package, so that it can come again."""
    workspace = memory.workspace
    place = place_of(row, workspace.root.resolve())
    if place is None or row.origin != "directive":
        return False
    homes = (workspace.directory / SHIPPED, workspace.agents_directory, workspace.bundles_directory)
    return any(place.is_relative_to(Path(home).resolve()) for home in homes)


def settle_space(memory: Memory) -> bool:
    """Check the embedding space; move a store that holds nothing but shipped rows. True when it moved.

    Raises EmbeddingSpaceMismatchError for a store with any other row: moving that is `olav kb reembed`, a
    person's decision. Nothing is deleted either way: the move is a re-embedding.
    """
    try:
        memory.check_space()
    except EmbeddingSpaceMismatchError:
        memory.store.refresh()
        if not all(is_shipped(memory, row) for row in memory.store.list()):
            raise
        used = memory.settings.embedder
        memory.reembed(used.id, used.options)
        return True
    return False
