"""A memory that a file brings, on its way into the store."""

from __future__ import annotations

from pathlib import Path

from attrs import fields_dict, frozen, has

from olav_core.importing.report import Action, ImportItem
from olav_core.records import MemoryRecord
from olav_core.specs import CategorySpec, Draft


@frozen
class Entry:
    """A record that a file brings; `place` is that file's absolute path."""

    place: Path
    path: str
    draft: Draft
    record: MemoryRecord
    tracked: bool

    @property
    def name(self) -> tuple[str, ...]:
        """What no two memories of one import may share."""
        record = self.record
        # A guide is known by (agent, intent) whatever its scope: two of them would contradict each other.
        # What was made from documents is known by its id: two documents may well have one title.
        if record.metadata.get("intent") and record.origin != "document":
            return (record.category, str(record.metadata.get("agent", "")), str(record.metadata["intent"]))
        return (record.id,)

    @property
    def label(self) -> str:
        """The memory as its author knows it, for messages."""
        metadata = self.record.metadata
        name = metadata.get("intent") or metadata.get("tag") or self.record.id
        agent = f" of agent '{metadata['agent']}'" if metadata.get("agent") else ""
        return f"{self.record.category} '{name}'{agent}"


def tracks(spec: CategorySpec) -> bool:
    """Say whether rows of a category can tell which file of which directory brought them."""
    if spec.metadata is None:
        return True
    return has(spec.metadata) and {"source", "directory"} <= fields_dict(spec.metadata).keys()


def item(action: Action, record: MemoryRecord, path: str, previous: str = "") -> ImportItem:
    """Return the report's line about a memory."""
    return ImportItem(
        action=action,
        id=record.id,
        category=record.category,
        scope=record.scope,
        path=path,
        previous_id=previous,
    )
