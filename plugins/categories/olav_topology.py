"""Category `topology`: a diagram's source as one row, and each of its nodes with its links as one row."""

from __future__ import annotations

import json
from typing import Literal

from attrs import field, frozen

from olav_core import CategorySpec, MemoryRecord, hookimpl

Format = Literal["mermaid", "dot", "svg"]


@frozen(kw_only=True)
class Topology:
    """`source`: the file. `node`: the device of this row, empty in the row of the whole diagram.
    `links`: its neighbours."""

    format: Format = "mermaid"
    source: str = ""
    node: str = ""
    links: list[str] = field(factory=list)


def dedupe_key(record: MemoryRecord) -> str:
    # A diagram without a source file is known by what it says, or two of them would be one row.
    source, node = record.metadata.get("source", ""), record.metadata.get("node", "")
    return json.dumps([source, node, "" if source else record.text])


def embed_text(record: MemoryRecord) -> str:
    """A node's name and its neighbours first, so that a device's name finds what it is linked to."""
    node, links = str(record.metadata.get("node", "")), record.metadata.get("links", ())
    head = f"{node}: {', '.join(links)}" if node and links else node
    return "\n".join(filter(None, [head, record.text]))


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="topology",
            title="Topology",
            purpose="Diagrams (Mermaid, DOT, SVG) and the links of each node",
            origins=frozenset({"document", "agent", "user", "directive"}),
            quota=0,
            cap=3,
            metadata=Topology,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
        )
    ]
