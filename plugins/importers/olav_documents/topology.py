"""A diagram to drafts: its source as one memory, each node with its links as one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from olav_core import Draft, Fault, language_of
from olav_documents.encoding import decode
from olav_documents.graph import BadDiagram, Graph, Link, Node
from olav_documents.reading import MAX_BYTES, Unreadable

#: File suffix, or language of a fenced block -> the notation that its rows name.
NOTATIONS: Mapping[str, str] = MappingProxyType(
    {"mmd": "mermaid", "mermaid": "mermaid", "dot": "dot", "gv": "dot", "graphviz": "dot", "svg": "svg"}
)
#: A source longer than this is stored cut: its nodes have rows of their own.
MAX_SOURCE_CHARS = 20_000
#: As a row says them: < and > would reach the model escaped.
_ARROWS = MappingProxyType({"->": "→", "<-": "←", "<->": "↔", "--": "—"})


def import_diagram(path: Path) -> tuple[list[Draft], list[Fault]]:
    """Return what a diagram's file brings, or one fault with the line."""
    notation = NOTATIONS[path.suffix.lower().removeprefix(".")]
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise Unreadable(f"has {size:,} bytes, the limit is {MAX_BYTES:,}. Split the diagram.")
        source = decode(path.read_bytes())
        graph = read_graph(notation, source)
        if graph is None:
            raise BadDiagram("a Mermaid diagram of a kind without topology; flowchart and graph are read.", 1)
    except (Unreadable, BadDiagram) as error:
        return [], [Fault(str(path), error.line, str(error))]
    return diagram_drafts(notation, source, graph, title=graph.title or path.stem), []


def read_graph(notation: str, source: str) -> Graph | None:
    """Return the graph of a source, None when it is no topology; raises BadDiagram or Unreadable."""
    if notation == "mermaid":
        from olav_documents.mermaid import read_mermaid

        return read_mermaid(source)
    if notation == "dot":
        from olav_documents.dot import read_dot

        return read_dot(source)
    from olav_documents.svg import read_svg

    return read_svg(source)


def diagram_drafts(
    notation: str, source: str, graph: Graph, *, diagram: str = "", title: str = ""
) -> list[Draft]:
    """Return the draft of the whole diagram, then those of its nodes. `diagram` names it in its file."""
    common = {"format": notation, "diagram": diagram, "title": graph.title or title}
    around: dict[str, list[tuple[Link, str]]] = {id: [] for id in graph.nodes}
    for link in graph.links:
        around[link.source].append((link, link.target))
        if link.target != link.source:
            around[link.target].append((link, link.source))
    zh = language_of(" ".join(f"{node.label} {node.group}" for node in graph.nodes.values())) == "zh"
    drafts = [_draft(_whole(source, graph, notation, common["title"]), common)]
    for node in graph.nodes.values():
        links = [_name(graph.nodes[other]) for _, other in around[node.id]]
        metadata = {
            **common,
            "node": node.id,
            "label": node.label,
            "group": node.group,
            "links": links,
            "labels": [link.label for link, _ in around[node.id]],
        }
        drafts.append(_draft(_sentence(node, around[node.id], graph, common["title"], zh), metadata))
    return drafts


def _draft(text: str, metadata: Mapping[str, object]) -> Draft:
    return Draft(text=text, category="topology", metadata=metadata, origin="document")


def _whole(source: str, graph: Graph, notation: str, title: str) -> str:
    # An SVG's source is coordinates: what it connects is said instead.
    if notation == "svg":
        names = {id: _name(node) for id, node in graph.nodes.items()}
        lines = [
            f"{names[link.source]} {_ARROWS[link.arrow]} {names[link.target]}"
            + (f" ({link.label})" if link.label else "")
            for link in graph.links
        ]
        source = "\n".join([title, *(lines or names.values())])
    source = source.strip()
    return source if len(source) <= MAX_SOURCE_CHARS else source[:MAX_SOURCE_CHARS] + "\n…"


def _sentence(node: Node, links: list[tuple[Link, str]], graph: Graph, title: str, zh: bool) -> str:
    """Say what a node is and what it is connected to, each neighbour with what stands on the link."""
    known = [node.group] if node.group else []
    if node.label and node.id not in node.label:
        known.insert(0, node.id)
    name = (node.label or node.id) + (
        (("（{}）" if zh else " ({})").format(", ".join(known))) if known else ""
    )
    said = []
    for link, other in links:
        mark = _ARROWS["<-" if link.arrow == "->" and link.source != node.id else link.arrow]
        text = f"{mark} {_name(graph.nodes[other])}"
        said.append(text + ((("（{}）" if zh else " ({})").format(link.label)) if link.label else ""))
    if not said:
        return f"{title}：{name} 没有连接。" if zh else f"{title}: {name} has no links."
    if zh:
        return f"{title}：{name} 连接到 {'；'.join(said)}"
    return f"{title}: {name} is connected to {'; '.join(said)}"


def _name(node: Node) -> str:
    return node.label or node.id
