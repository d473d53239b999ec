"""SVG to a graph: what Graphviz and Mermaid drew by its own marks, any other drawing by its geometry."""

from __future__ import annotations

import re
from typing import Any

from olav_documents.drawing import Drawing, tag_of, text_of
from olav_documents.graph import Arrow, BadDiagram, Graph, plain_label
from olav_documents.reading import need

_MERMAID_NODE = re.compile(r"(?:.*-)?flowchart-(.+)-\d+\Z")
_EDGE = re.compile(r"(.+?)(->|--)(.+)\Z", re.DOTALL)


def read_svg(source: str) -> Graph:
    """Return the graph of an SVG drawing; BadDiagram names the line of what is no XML.

    Entities and external references are refused.
    """
    tree = need("defusedxml.ElementTree", "defusedxml", ".svg")
    errors = need("defusedxml.common", "defusedxml", ".svg")
    try:
        root = tree.fromstring(source.encode("utf-8", "replace"))
    except tree.ParseError as error:
        raise BadDiagram(f"SVG: {error.msg}.", error.position[0]) from error
    except errors.DefusedXmlException as error:
        raise BadDiagram(
            "SVG: entities and external references are not read. Save it without them."
        ) from error
    if tag_of(root) != "svg":
        raise BadDiagram(f"SVG: the root is <{tag_of(root)}>, not <svg>.", 1)
    graph = Graph()
    if not _graphviz(root, graph) and not _mermaid(root, graph):
        Drawing(graph).read(root)
    if not graph.nodes:
        raise BadDiagram("SVG: the drawing holds no text that could name a node.")
    return graph


def _graphviz(root: Any, graph: Graph) -> bool:
    groups = [(element.get("class"), element) for element in root.iter() if tag_of(element) == "g"]
    for kind, element in groups:
        if kind == "node":
            name = _title(element)
            graph.node(name, text_of(element))
        elif kind == "graph":
            graph.title = _title(element)
    for kind, element in groups:
        if kind == "edge" and (found := _EDGE.match(_title(element))):
            ends = [graph.node(found[n].split(":")[0]) for n in (1, 3)]
            graph.link(ends[0], ends[1], text_of(element), "->" if found[2] == "->" else "--")
    return bool(graph.nodes)


def _mermaid(root: Any, graph: Graph) -> bool:
    edges = []
    for element in root.iter():
        classes = (element.get("class") or "").split()
        if "node" in classes and (found := _MERMAID_NODE.match(element.get("id") or "")):
            graph.node(found[1], text_of(element))
        elif "flowchart-link" in classes:
            edges.append(element)
    for element in edges:
        marks = dict(
            word.split("-", 1) for word in (element.get("class") or "").split() if word[:3] in ("LS-", "LE-")
        )
        ends = [marks.get("LS", ""), marks.get("LE", "")]
        if not all(ends):
            ends = _known_ends(element.get("id") or "", graph)
        if len(ends) == 2 and all(end in graph.nodes for end in ends):
            arrow: Arrow = "->" if element.get("marker-end") else "--"
            graph.link(ends[0], ends[1], "", arrow)
    return bool(graph.nodes)


def _known_ends(id: str, graph: Graph) -> list[str]:
    """The nodes of an id such as `L_R1_R2_0`: names may hold underscores too."""
    words = id.split("_")[1:-1]
    for place in range(1, len(words)):
        ends = ["_".join(words[:place]), "_".join(words[place:])]
        if all(end in graph.nodes for end in ends):
            return ends
    return []


def _title(element: Any) -> str:
    return plain_label(next((child.text or "" for child in element if tag_of(child) == "title"), ""))
