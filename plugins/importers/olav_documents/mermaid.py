"""Mermaid flowcharts (`flowchart`, `graph`) to a graph. No Python library reads them, so this does."""

from __future__ import annotations

import re

from olav_documents.graph import Arrow, BadDiagram, Graph, plain_label

_KINDS = ("flowchart", "flowchart-elk", "graph")
#: Other diagrams of Mermaid: they hold no topology.
_OTHERS = re.compile(
    r"(?:sequenceDiagram|classDiagram|stateDiagram|erDiagram|gantt|pie|journey|gitGraph|mindmap|timeline|"
    r"quadrantChart|requirementDiagram|C4\w+|sankey|xychart|block|packet|kanban|architecture|radar|treemap|"
    r"zenuml|info|venn)\b"
)
_FRONT = re.compile(r"\s*---[ \t]*\n(.*?)\n[ \t]*---[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^\s*title:\s*(.+?)\s*$", re.MULTILINE)
_BLANK = re.compile(r"(?:[\s;]|%%[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_HEAD = re.compile(r"([\w-]+)(?:[ \t]+(?:TB|TD|BT|RL|LR|[<>^v]))?[ \t]*(?=[\n;]|\Z|%%)")
_SKIPPED = re.compile(
    r"(?:style|classDef|class|click|linkStyle|direction|accTitle|accDescr)\b"
    r"(?:[ \t]*:?[ \t]*\{[^}]*\}|[^\n;]*)"
)
_SUBGRAPH = re.compile(r"subgraph\b[ \t]*([^\n;]*)")
_SUBGRAPH_NAME = re.compile(r"(?P<id>[^\s\[]+)[ \t]*\[(?P<label>.*)\]\Z")
_END = re.compile(r"end\b(?=[ \t]*(?:[\n;]|\Z|%%))")
_ID = re.compile(r"\w+(?:[-.:/]\w+)*|\"[^\"\n]+\"")
_CLASS = re.compile(r":::[\w-]+")
_DATA = re.compile(r"@\{([^}]*)\}")
_DATA_LABEL = re.compile(r"\blabel\s*:\s*(?:\"([^\"]*)\"|([^,}\n]*))")
#: Opening -> closing brackets of a node's caption, the longest first.
_SHAPES = {
    "(((": (")))",),
    "((": ("))",),
    "([": ("])",),
    "[[": ("]]",),
    "[(": (")]",),
    "[/": ("/]", "\\]"),
    "[\\": ("\\]", "/]"),
    "{{": ("}}",),
    "(": (")",),
    "[": ("]",),
    "{": ("}",),
    ">": ("]",),
}
_EDGE_ID = re.compile(r"\w+@(?=[<xo]?[-=~])")
_PLAIN_LINK = re.compile(r"(?P<l>[<xo])?(?:~{3,}|-{2,}(?P<a>[->xo])|={2,}(?P<b>[=>xo])|-\.+-(?P<c>[>xo])?)")
_LINK_TEXT = re.compile(r"[ \t]*\|([^|\n]*)\|")
_TEXT_LINK = re.compile(
    r"(?P<l>[<xo])?(?:--(?![->])[ \t]*(?P<t>[^\n]*?[^\n-])[ \t]*-{2,}(?P<a>[->xo])"
    r"|==(?![=>])[ \t]*(?P<u>[^\n]*?[^\n=])[ \t]*={2,}(?P<b>[=>xo])"
    r"|-\.(?![-.])[ \t]*(?P<v>[^\n]*?[^\n.-])[ \t]*\.+-(?P<c>[>xo])?)"
)


def read_mermaid(source: str) -> Graph | None:
    """Return the graph of a flowchart, None for another kind of diagram; BadDiagram names the line."""
    return _Parser(source.replace("\r\n", "\n")).parse()


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.place = 0
        self.graph = Graph()
        self.groups: list[str] = []

    @property
    def line(self) -> int:
        return self.source.count("\n", 0, self.place) + 1

    def bad(self, expected: str) -> BadDiagram:
        rest = self.source[self.place :].split("\n", 1)[0][:40].strip() or "the end of the line"
        return BadDiagram(f"Mermaid: expected {expected}, found '{rest}'.", self.line)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.source, self.place)
        if found:
            self.place = found.end()
        return found

    def parse(self) -> Graph | None:
        front = self.take(_FRONT)
        if front and (title := _TITLE.search(front[1])):
            self.graph.title = title[1].strip("\"'")
        self.take(_BLANK)
        if _OTHERS.match(self.source, self.place):
            return None
        head = self.take(_HEAD)
        if not head or head[1] not in _KINDS:
            self.place = head.start() if head else self.place
            raise self.bad("'flowchart' or 'graph' and a direction")
        while True:
            self.take(_BLANK)
            if self.place >= len(self.source):
                break
            self.statement()
        if self.groups:
            raise BadDiagram("Mermaid: a subgraph has no 'end'.", self.line)
        if not self.graph.nodes:
            raise BadDiagram("Mermaid: the diagram holds no node.", self.line)
        return self.graph

    def statement(self) -> None:
        if self.take(_SKIPPED):
            return
        if found := self.take(_SUBGRAPH):
            name = _SUBGRAPH_NAME.match(found[1].strip())
            self.groups.append(_caption(name["label"] if name else found[1]))
            return
        if self.groups and self.take(_END):
            self.groups.pop()
            return
        left = self.nodes()
        while True:
            self.take(_SPACE)
            if self.place >= len(self.source) or self.source[self.place] in "\n;":
                return
            if self.source.startswith("%%", self.place):
                return
            arrow, label = self.connector()
            place = self.place
            self.take(_BLANK)  # a chain may go on in the next line
            self.place = place if self.place >= len(self.source) else self.place
            right = self.nodes()
            for source in left if arrow else ():
                for target in right:
                    self.graph.link(source, target, label, arrow or "--", line=self.line)
            left = right

    def nodes(self) -> list[str]:
        found = [self.node()]
        while True:
            place = self.place
            self.take(_SPACE)
            if not self.source.startswith("&", self.place):
                self.place = place
                return found
            self.place += 1
            self.take(_BLANK)
            found.append(self.node())

    def node(self) -> str:
        found = self.take(_ID)
        if not found:
            raise self.bad("the name of a node")
        label, line = "", self.line
        opening = next((shape for shape in _SHAPES if self.source.startswith(shape, self.place)), "")
        if opening:
            label = self.caption(opening)
        elif data := self.take(_DATA):
            named = _DATA_LABEL.search(data[1])
            label = _caption((named[1] or named[2] or "") if named else "")
        self.take(_CLASS)
        group = " › ".join(filter(None, self.groups))
        return self.graph.node(found[0].strip('"'), label, group, line=line)

    def caption(self, opening: str) -> str:
        start = self.place + len(opening)
        quoted = self.source.startswith('"', start)
        from_place = self.source.find('"', start + 1) + 1 if quoted else start
        ends = [(self.source.find(closing, from_place), closing) for closing in _SHAPES[opening]]
        end, closing = min((found for found in ends if found[0] >= 0), default=(-1, ""))
        line_end = self.source.find("\n", start)
        if end < 0 or (quoted and not from_place) or (not quoted and 0 <= line_end < end):
            raise self.bad(f"'{_SHAPES[opening][0]}' after the caption that begins here")
        self.place = end + len(closing)
        return _caption(self.source[start:end])

    def connector(self) -> tuple[Arrow | None, str]:
        """Return (arrow, label); the arrow is None for a link that is not drawn."""
        self.take(_EDGE_ID)
        found = self.take(_PLAIN_LINK)
        label = ""
        if found:
            if text := self.take(_LINK_TEXT):
                label = text[1]
            if "~" in found[0]:
                return None, ""
        else:
            found = self.take(_TEXT_LINK)
            if not found:
                raise self.bad("a link such as --> or the end of the line")
            label = found["t"] or found["u"] or found["v"] or ""
        head = found["a"] or found["b"] or found["c"] or ""
        right, left = head in (">", "x", "o") and bool(head), bool(found["l"])
        arrow: Arrow = "<->" if left and right else "->" if right else "--"
        return arrow, _caption(label)


def _caption(text: str) -> str:
    return plain_label(text.strip().strip('"').strip("`").replace("#quot;", '"'))
