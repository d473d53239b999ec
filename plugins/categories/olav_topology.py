"""Category `topology`: a diagram's source as one row, and each of its nodes with its links as one row."""

from __future__ import annotations

import json
import posixpath
import re
from typing import Literal

from attrs import field, frozen

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl

#: What the importer puts between neighbours; without their names it says nothing.
_MARKS = re.compile("[←→↔—;；]+")
Format = Literal["mermaid", "dot", "svg"]


@frozen(kw_only=True)
class Topology:
    """`source`: the file, `directory`: where it was imported from, `diagram`: which of the file's diagrams.
    `node`: the device of this row, empty in the row of the whole diagram; `label`: its caption, `group`: what
    it is drawn inside. `links`: its neighbours, and `labels` what stands on each of those links.
    """

    format: Format = "mermaid"
    source: str = ""
    directory: str = ""
    diagram: str = ""
    title: str = ""
    node: str = ""
    label: str = ""
    group: str = ""
    links: list[str] = field(factory=list)
    labels: list[str] = field(factory=list)


def dedupe_key(record: MemoryRecord) -> str:
    data = record.metadata
    source, node = str(data.get("source", "")), data.get("node", "")
    if data.get("directory"):
        # One file holds the same diagrams, by way of whatever folder it was imported.
        place = posixpath.normpath(posixpath.join(str(data["directory"]), source))
        return json.dumps([place, data.get("diagram", ""), node])
    # A diagram without a source file is known by what it says, or two of them would be one row.
    return json.dumps([source, node, "" if source else record.text])


def embed_text(record: MemoryRecord) -> str:
    """A node's names and its text without its neighbours' names: a question that names R3 means R3's row, not
    the row of each of its forty switches."""
    data = record.metadata
    links = {str(link) for link in data.get("links", ()) if link}
    if not data.get("node") or not links:
        return record.text
    names = " ".join(filter(None, (str(data.get(name, "")) for name in ("node", "label", "group"))))
    others = "|".join(map(re.escape, sorted(links, key=len, reverse=True)))
    alone = re.sub(rf"(?<![\w.-])(?:{others})(?![\w.-])", " ", record.text)
    return f"{names}\n{' '.join(_MARKS.sub(' ', alone).split())}"


def keywords(record: MemoryRecord) -> list[str]:
    """The node's own names: a question that names R3 means its row before those of its neighbours."""
    names = (str(record.metadata.get(name, "")) for name in ("node", "label"))
    return [name for name in names if len(name) > 1]


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
            gates=(GateUse("evidence"),),
            boosts=("keyword_boost",),
            metadata=Topology,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            keywords=keywords,
        )
    ]
