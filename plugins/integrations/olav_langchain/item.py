"""Category `item`: what LangGraph's store holds."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from olav_core import CategorySpec, MemoryRecord


@frozen(kw_only=True)
class Item:
    """`value` is the item as it was put. `search`: the texts of the fields that its writer chose to index,
    None for the whole value, "" for none. `ttl`: minutes that each read gives it, None for ever."""

    key: str
    value: dict[str, Any] = field(factory=dict)
    search: str | None = None
    ttl: float | None = None


def dedupe_key(record: MemoryRecord) -> str:
    return str(record.metadata["key"])


def embed_text(record: MemoryRecord) -> str:
    search = record.metadata.get("search")
    if search is None:
        return record.text
    return str(search) or str(record.metadata["key"])  # what is not indexed is still a row, found by its key


ITEM = CategorySpec(
    id="item",
    title="LangGraph item",
    purpose="What an agent put into LangGraph's store: a JSON value under a namespace and a key",
    quota=0,
    cap=2,
    metadata=Item,
    dedupe_key=dedupe_key,
    embed_text=embed_text,
)
