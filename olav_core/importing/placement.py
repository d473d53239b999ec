"""Placement: the scope, the file and its directory that drafts of a file are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import evolve

from olav_core.importing.entry import tracks
from olav_core.importing.source import ImportSource
from olav_core.records import MemoryRecord
from olav_core.specs import CategorySpec, Draft, ImporterSpec


class Placement:
    """Places drafts: in `scope`, else in the scope that the file's `rows` of the category have."""

    def __init__(
        self,
        source: ImportSource,
        categories: Mapping[str, CategorySpec],
        scope: str | None,
        rows: Iterable[MemoryRecord],
    ) -> None:
        self._source, self._categories, self._scope = source, categories, scope
        self._scopes: dict[tuple[Path, str], str] = {}
        for row in rows:
            if (place := source.place_of(row)) is not None:
                self._scopes[place, row.category] = row.scope

    def __call__(
        self,
        importer: ImporterSpec,
        path: Path,
        drafts: Sequence[Draft],
    ) -> list[Draft]:
        """Return the drafts of installed categories with their scope, their file and its directory."""
        place, placed = self._source.placed(path), []
        origin = {
            "source": path.relative_to(self._source.base).as_posix(),
            "directory": self._source.identity,
        }
        for draft in drafts:
            spec = self._categories.get(draft.category)
            if spec is None and draft.category in importer.also:
                continue
            if draft.scope is None:
                draft = evolve(draft, scope=self._scope or self._scopes.get((place, draft.category)))
            if spec is not None and tracks(spec):
                draft = evolve(draft, metadata={**draft.metadata, **origin})
            placed.append(draft)
        return placed
