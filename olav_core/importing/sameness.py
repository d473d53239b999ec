"""Sameness: whether a file says anything new about a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import fields_dict

from olav_core import clock
from olav_core.importing.entry import Entry
from olav_core.importing.source import ImportSource
from olav_core.records import MemoryRecord
from olav_core.specs import CategorySpec
from olav_core.succession import SUPERSEDED, Succession


def is_same(
    entry: Entry, row: MemoryRecord, source: ImportSource, categories: Mapping[str, CategorySpec]
) -> bool:
    """Return whether a stored row says what the file says."""
    record = entry.record
    ours, theirs = dict(record.metadata), dict(row.metadata)
    if source.place_of(row) == entry.place:  # one file, imported by way of another folder
        for values in (ours, theirs):
            values.pop("directory", None)
            values.pop("source", None)
    spec = categories.get(row.category)
    names = ["text", "scope", "origin", "confidence"]
    if row.metadata.get("status") != SUPERSEDED:  # such a row is found by its id alone
        names.append("search_text")
    if spec is not None and spec.claims is not None:  # superseded meanwhile: the file says nothing new
        for values in (ours, theirs):
            for name in fields_dict(Succession):
                values.pop(name, None)
    if any(getattr(record, name) != getattr(row, name) for name in names):
        return False
    if _json(ours) != _json(theirs) or sorted(record.tags) != sorted(row.tags):
        return False
    if entry.draft.expires_at is None and record.expires_at is not None:
        # The category's ttl, counted from each import: rewrite only what has expired.
        return row.expires_at is not None and row.expires_at > clock.now()
    return record.expires_at == row.expires_at


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
