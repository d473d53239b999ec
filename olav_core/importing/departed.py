"""Rows whose file brings them no more, found by what they were about or by what they said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from olav_core.records import GLOBAL_SCOPE, MemoryRecord
from olav_core.specs import CategorySpec


class Departed:
    """What a new memory may have been before: the same thing in another scope, the same text in another
    file."""

    def __init__(self, registry: Any, rows: Iterable[MemoryRecord]) -> None:
        self._registry = registry
        self._by_name: dict[tuple[str, str], list[MemoryRecord]] = {}
        self._by_text: dict[tuple[str, str], list[MemoryRecord]] = {}
        for row in rows:
            self._by_name.setdefault(self._name(row), []).append(row)
            self._by_text.setdefault((row.category, row.search_text), []).append(row)

    def like(self, record: MemoryRecord) -> list[MemoryRecord]:
        """Return the rows that `record` may have been; empty when it is new."""
        same = self._by_name.get(self._name(record))
        return same or self._by_text.get((record.category, record.search_text), [])

    def _name(self, record: MemoryRecord) -> tuple[str, str]:
        spec: CategorySpec = self._registry.category(record.category)
        return record.category, spec.dedupe_key(evolve(record, scope=GLOBAL_SCOPE))
