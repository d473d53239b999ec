"""Topics: what the memories in force claim, kept in step with the table by its versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from attrs import frozen

from olav_core.store import filters, schema

if TYPE_CHECKING:
    from olav_core.records import MemoryRecord
    from olav_core.specs import CategorySpec
    from olav_core.store.store import Store


@frozen
class Topic:
    """Something that memories of one category and scope give a value."""

    category: str
    scope: str
    name: str


class Topics:
    """Which stored memories give a topic a value. The first look reads the categories that claim, later ones
    only the rows that changed. Thread-safe. It may name rows that were deleted: who asks reads them anyway.
    """

    def __init__(self, store: Store, categories: Mapping[str, CategorySpec]) -> None:
        self.store = store
        self.categories = categories
        self._lock = Lock()
        self._version: int | None = None
        self._ids: dict[Topic, set[str]] = {}
        self._of: dict[str, tuple[Topic, ...]] = {}

    def claims(self, record: MemoryRecord) -> dict[Topic, str]:
        """Return what a memory says, topic -> value; nothing when it is out of force."""
        spec = self.categories.get(record.category)
        if spec is None or spec.claims is None or record.metadata.get("status", "active") != "active":
            return {}
        return {
            Topic(record.category, record.scope, name): said for name, said in spec.claims(record).items()
        }

    def ids(self, topics: Iterable[Topic]) -> set[str]:
        """Return the memories in force that say something about one of these topics, as of `sync`."""
        with self._lock:
            return {id for topic in topics for id in self._ids.get(topic, ())}

    def sync(self) -> None:
        """Take in what every process wrote."""
        with self._lock:
            version = self.store.refresh()
            if version == self._version:
                return
            claiming = [id for id, spec in self.categories.items() if spec.claims is not None]
            where = filters.in_("category", claiming)
            if self._version is not None:
                where = filters.all_of(where, filters.greater("_row_last_updated_at_version", self._version))
            for record in schema.decode(self.store.scan(schema.SHOWN, where)):
                self._file(record)
            self._version = version

    def _file(self, record: MemoryRecord) -> None:
        for topic in self._of.pop(record.id, ()):
            self._ids[topic].discard(record.id)
            if not self._ids[topic]:
                del self._ids[topic]
        if topics := tuple(self.claims(record)):
            self._of[record.id] = topics
            for topic in topics:
                self._ids.setdefault(topic, set()).add(record.id)
