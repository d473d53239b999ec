"""Category `document`: a passage of a longer document."""

from __future__ import annotations

import json
import posixpath

from attrs import field, frozen, validators

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl


@frozen(kw_only=True)
class Document:
    """`source`: the file or address. `section`: the headings above the passage. `page`: its number, if any.

    A passage is known by `anchor`, a hash of what it says, so that it stays the same row when something is
    inserted before it; without one by `chunk`, its number from 0. `previous` and `next`: the anchors of its
    neighbours in the document. `directory`: where the file was imported from. `contents`: it only names what
    other passages say, so it is found by its headings alone.
    """

    source: str = field(validator=validators.min_len(1))
    title: str = ""
    section: str = ""
    chunk: int = field(default=0, validator=validators.ge(0))
    page: int | None = None
    anchor: str = ""
    previous: str = ""
    next: str = ""
    directory: str = ""
    contents: bool = False


def dedupe_key(record: MemoryRecord) -> str:
    data = record.metadata
    if not data.get("anchor"):
        return json.dumps([data["source"], data.get("chunk", 0)])
    # One file is one document, by way of whatever folder it was imported.
    place = posixpath.normpath(posixpath.join(str(data.get("directory", "")), str(data["source"])))
    return json.dumps([place, data["anchor"]])


def embed_text(record: MemoryRecord) -> str:
    """Its headings and its text; of a table of contents the headings: it would be the nearest to whatever it
    names, before the passage that says it."""
    if record.metadata.get("contents") and heading(record):
        return heading(record)
    return "\n".join(filter(None, [heading(record), record.text]))


def render(record: MemoryRecord) -> str:
    data = record.metadata
    page = f", p. {data['page']}" if data.get("page") is not None else ""
    return f"[{heading(record) or data['source']}{page}] {record.text}"


def heading(record: MemoryRecord) -> str:
    names = (str(record.metadata.get(name, "")) for name in ("title", "section"))
    return " › ".join(filter(None, names))


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="document",
            title="Document",
            purpose="Passages of runbooks and manuals",
            origins=frozenset({"document", "user", "agent", "directive"}),
            quota=0,
            cap=3,
            gates=(GateUse("evidence"),),
            metadata=Document,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            render=render,
        )
    ]
