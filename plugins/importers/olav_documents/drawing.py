"""A drawing without marks of what is a node and what a link: read by its geometry."""

from __future__ import annotations

import math
import re
from typing import Any

from attrs import frozen

from olav_documents.graph import Graph, plain_label

_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TRANSFORM = re.compile(r"(translate|scale|matrix)\(([^)]*)\)")
#: How far a line's end may lie from the node it belongs to, as a share of the drawing's diagonal.
_NEAR = 0.05
Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@frozen
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def distance(self, x: float, y: float) -> float:
        return math.hypot(max(self.left - x, 0, x - self.right), max(self.top - y, 0, y - self.bottom))

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.bottom - self.top)


class Drawing:
    """Texts name nodes: the smallest shape around a text is its node's box, else the text itself. A line
    links the nodes nearest to its two ends; a text near its middle that is in no shape is its label."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.boxes: list[_Box] = []
        self.texts: list[tuple[str, float, float]] = []
        self.lines: list[tuple[float, float, float, float, bool]] = []

    def read(self, root: Any) -> None:
        self.walk(root, _IDENTITY)
        nodes: dict[str, _Box] = {}
        loose = []
        for text, x, y in self.texts:
            around = [box for box in self.boxes if box.distance(x, y) == 0]
            if around:
                nodes.setdefault(text, min(around, key=lambda box: box.area))
            else:
                loose.append((text, x, y))
        if not nodes:  # no shapes: the texts themselves are the nodes
            nodes, loose = {text: _Box(x, y, x, y) for text, x, y in loose}, []
        for text in nodes:
            self.graph.node(text)
        points = list(nodes.values())
        if not points:
            return
        width = max(box.right for box in points) - min(box.left for box in points)
        height = max(box.bottom for box in points) - min(box.top for box in points)
        near = math.hypot(width, height) * _NEAR
        for x1, y1, x2, y2, arrow in self.lines:
            ends = [self.nearest(nodes, x1, y1), self.nearest(nodes, x2, y2)]
            far = max(nodes[ends[0]].distance(x1, y1), nodes[ends[1]].distance(x2, y2))
            if ends[0] == ends[1] or far > near:
                continue
            middle = ((x1 + x2) / 2, (y1 + y2) / 2)
            label = min(loose, key=lambda text: math.dist(middle, text[1:]), default=None)
            text = label[0] if label and math.dist(middle, label[1:]) <= near else ""
            self.graph.link(ends[0], ends[1], text, "->" if arrow else "--")

    def nearest(self, nodes: dict[str, _Box], x: float, y: float) -> str:
        return min(nodes, key=lambda name: nodes[name].distance(x, y))

    def walk(self, element: Any, matrix: Matrix) -> None:
        tag = tag_of(element)
        if tag in ("defs", "style", "script", "metadata", "symbol", "marker", "clipPath"):
            return
        matrix = _times(matrix, element.get("transform") or "")
        if tag == "text":
            x, y = _number(element.get("x")), _number(element.get("y"))
            if (text := text_of(element)) != "":
                inner = next((sub for sub in element if sub.get("x")), None)
                if inner is not None and not element.get("x"):
                    x, y = _number(inner.get("x")), _number(inner.get("y"))
                self.texts.append((text, *_apply(matrix, x, y)))
            return
        points = _points(element, tag)
        if tag in ("rect", "circle", "ellipse", "polygon", "image") and len(points) > 1:
            moved = [_apply(matrix, x, y) for x, y in points]
            xs, ys = [x for x, _ in moved], [y for _, y in moved]
            self.boxes.append(_Box(min(xs), min(ys), max(xs), max(ys)))
        elif tag in ("line", "polyline", "path") and len(points) > 1:
            (x1, y1), (x2, y2) = _apply(matrix, *points[0]), _apply(matrix, *points[-1])
            arrow = bool(element.get("marker-end")) or "marker-end" in (element.get("style") or "")
            self.lines.append((x1, y1, x2, y2, arrow))
        for child in element:
            self.walk(child, matrix)


def _points(element: Any, tag: str) -> list[tuple[float, float]]:
    at = {
        name: _number(element.get(name))
        for name in ("x", "y", "cx", "cy", "r", "rx", "ry", "width", "height")
    }
    if tag in ("rect", "image"):
        return [(at["x"], at["y"]), (at["x"] + at["width"], at["y"] + at["height"])]
    if tag in ("circle", "ellipse"):
        rx, ry = (at["r"], at["r"]) if tag == "circle" else (at["rx"], at["ry"])
        return [(at["cx"] - rx, at["cy"] - ry), (at["cx"] + rx, at["cy"] + ry)]
    if tag == "line":
        return [(_number(element.get(f"x{n}")), _number(element.get(f"y{n}"))) for n in (1, 2)]
    if tag in ("polyline", "polygon"):
        numbers = [float(found) for found in _NUMBER.findall(element.get("points") or "")]
        return list(zip(numbers[::2], numbers[1::2], strict=False))
    return _path_ends(element.get("d") or "") if tag == "path" else []


def _path_ends(data: str) -> list[tuple[float, float]]:
    """The two ends of a path of absolute M, L, C, Q, S, T, A, H, V commands and their relative forms."""
    x = y = 0.0
    points: list[tuple[float, float]] = []
    for command, arguments in re.findall(r"([MLCQSTAHVmlcqstahv])([^A-Za-df-z]*)", data):
        numbers = [float(found) for found in _NUMBER.findall(arguments)]
        if not numbers:
            continue
        relative = command.islower()
        if command in "Hh":
            x = numbers[-1] + (x if relative else 0)
        elif command in "Vv":
            y = numbers[-1] + (y if relative else 0)
        elif len(numbers) > 1:
            x, y = numbers[-2] + (x if relative else 0), numbers[-1] + (y if relative else 0)
        points.append((x, y))
    return points


def _times(matrix: Matrix, transform: str) -> Matrix:
    for name, arguments in _TRANSFORM.findall(transform):
        n = [float(found) for found in _NUMBER.findall(arguments)]
        other: Matrix = _IDENTITY
        if name == "translate" and n:
            other = (1, 0, 0, 1, n[0], n[1] if len(n) > 1 else 0)
        elif name == "scale" and n:
            other = (n[0], 0, 0, n[1] if len(n) > 1 else n[0], 0, 0)
        elif name == "matrix" and len(n) == 6:
            other = (n[0], n[1], n[2], n[3], n[4], n[5])
        a, b, c, d, e, f = matrix
        p, q, r, s, t, u = other
        matrix = (
            a * p + c * q,
            b * p + d * q,
            a * r + c * s,
            b * r + d * s,
            a * t + c * u + e,
            b * t + d * u + f,
        )
    return matrix


def _apply(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _number(text: str | None) -> float:
    found = _NUMBER.search(text or "")
    return float(found[0]) if found else 0.0


def tag_of(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def text_of(element: Any) -> str:
    if tag_of(element) == "text":
        return plain_label(" ".join(element.itertext()))
    found = [
        " ".join(child.itertext()) for child in element.iter() if tag_of(child) in ("text", "foreignObject")
    ]
    return plain_label(" ".join(found))
