"""DOT (Graphviz) to a graph, by pydot's parser; Graphviz itself is not needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any

from olav_documents.graph import Arrow, BadDiagram, Graph, plain_label
from olav_documents.reading import need

#: pydot's parser takes about 1 s for 2,000 statements.
MAX_CHARS = 2_000_000
_PARSER = Lock()  # pyparsing's grammar is shared and not thread-safe


def read_dot(source: str) -> Graph:
    """Return the graph of a DOT source; BadDiagram names the line."""
    module = need("pydot.dot_parser", "pydot", "DOT")
    errors = need("pyparsing", "pyparsing", "DOT")
    if len(source) > MAX_CHARS:
        raise BadDiagram(f"DOT: {len(source):,} characters, the limit is {MAX_CHARS:,}. Split the diagram.")
    try:
        with _PARSER:
            parsed = list(module.GraphParser.parser.parse_string(source, parse_all=True))
    except errors.ParseBaseException as error:
        raise BadDiagram(f"DOT: {error.msg} at column {error.column}.", int(error.lineno)) from error
    except RecursionError as error:
        raise BadDiagram("DOT: nested too deep.") from error
    graph = Graph()
    for dot in parsed:
        graph.title = graph.title or _value(dot.get_label()) or _value(dot.get_name())
        _read(dot, graph, "", dot.get_type() == "digraph")
    if not graph.nodes:
        raise BadDiagram("DOT: the diagram holds no node.")
    return graph


def _read(dot: Any, graph: Graph, group: str, directed: bool) -> None:
    for node in dot.get_nodes():
        name = _value(node.get_name())
        if name not in ("node", "edge", "graph") and name:
            label = _value(node.get_attributes().get("label"))
            graph.node(name, "" if label == "\\N" else label, group)
    for edge in dot.get_edges():
        label = _value(edge.get_attributes().get("label"))
        ends = [list(_ends(end)) for end in (edge.get_source(), edge.get_destination())]
        arrow: Arrow = "->" if directed else "--"
        if _value(edge.get_attributes().get("dir")) == "both":
            arrow = "<->"
        for source in ends[0]:
            for target in ends[1]:
                graph.link(graph.node(source, group=group), graph.node(target, group=group), label, arrow)
    for inner in dot.get_subgraphs():
        caption = _value(inner.get_label()) or _value(inner.get_name()).removeprefix("cluster_")
        _read(inner, graph, " › ".join(filter(None, (group, caption))), directed)


def _ends(end: Any) -> Iterator[str]:
    """Yield the nodes that an end of an edge names: one, or all of a subgraph."""
    if isinstance(end, Mapping):
        yield from (_value(name) for name in end.get("nodes", {}))
    elif hasattr(end, "get_nodes"):
        yield from (_value(node.get_name()) for node in end.get_nodes())
    else:
        yield _node_of(str(end))


def _node_of(end: str) -> str:
    """The node of `node:port:compass`."""
    if end.startswith('"'):
        return _value(end[: end.find('"', 1) + 1])
    return end.split(":", 1)[0]


def _value(text: Any) -> str:
    text = str(text or "").strip()
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        text = text[1:-1].replace('\\"', '"')
    elif text.startswith("<") and text.endswith(">"):
        text = text[1:-1]
    return plain_label(text)
