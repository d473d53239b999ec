"""A diagram as values: nodes, and links between them."""

from __future__ import annotations

import html
import re
from typing import Literal

from attrs import define, field, frozen

#: A diagram beyond this is no drawing that somebody made to be read.
MAX_NODES, MAX_LINKS = 5_000, 20_000
Arrow = Literal["->", "<->", "--"]
_TAG = re.compile(r"<[^<>]*>")


class BadDiagram(Exception):
    """The source is not what it claims to be; `line` counts from 1, 0 when it is not known."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@frozen
class Node:
    """`label`: its caption, where it differs from `id`. `group`: the caption of what it is drawn inside."""

    id: str
    label: str = ""
    group: str = ""


@frozen
class Link:
    source: str
    target: str
    label: str = ""
    arrow: Arrow = "--"


@define
class Graph:
    title: str = ""
    nodes: dict[str, Node] = field(factory=dict)
    links: list[Link] = field(factory=list)

    def node(self, id: str, label: str = "", group: str = "", *, line: int = 0) -> str:
        """Add a node, or what is newly known of one; return its id."""
        old = self.nodes.get(id)
        if old is None and len(self.nodes) >= MAX_NODES:
            raise BadDiagram(f"has more than {MAX_NODES:,} nodes. Split the diagram.", line)
        label = "" if label == id else label
        known = old or Node(id)
        self.nodes[id] = Node(id, label or known.label, group or known.group)
        return id

    def link(self, source: str, target: str, label: str = "", arrow: Arrow = "--", *, line: int = 0) -> None:
        """Add a link; the same one twice is one."""
        if len(self.links) >= MAX_LINKS:
            raise BadDiagram(f"has more than {MAX_LINKS:,} links. Split the diagram.", line)
        self.links.append(Link(source, target, label, arrow))


def plain_label(text: str) -> str:
    """Return a caption without markup, entities and line breaks."""
    text = re.sub(r"<br\s*/?>|\\[nlr]", " ", text)
    return " ".join(html.unescape(_TAG.sub("", text)).split())
