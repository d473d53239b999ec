"""Ownership: whose row it is that a file would write."""

from __future__ import annotations

from olav_core.importing.entry import Entry
from olav_core.importing.source import ImportSource
from olav_core.records import MemoryRecord


def taken(entry: Entry, row: MemoryRecord | None, source: ImportSource) -> str:
    """Say that an entry's row belongs to somebody else: a person, or a file outside this import."""
    if row is None or not entry.tracked:
        return ""
    place = source.place_of(row)
    if place is None:
        # A directive that no import brought may be adopted; anything else somebody wrote by hand.
        if row.origin == "directive" or row.text == entry.record.text:
            return ""
        owner = f"a row of origin '{row.origin}' that no import brought"
        remedy = f"Rename it here, or run `olav forget {row.id}` first."
    elif source.reads(place) or not place.is_file() or place.samefile(entry.path):
        return ""
    else:
        owner = f"{place}, imported before"
        remedy = "Give one of them another name or scope, or remove that file and import its directory."
    return f"is the same {entry.label} as {owner}. {remedy}"
