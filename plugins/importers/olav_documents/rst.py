"""reStructuredText to blocks, by docutils; nothing is included, fetched or run."""

from __future__ import annotations

import io
from typing import Any

from olav_documents.reading import Block, Reading, fenced, need, table

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,  # directives and roles of Sphinx are unknown here, and no fault of the text
    "halt_level": 6,
    "doctitle_xform": True,
}


def read_rst(text: str) -> Reading:
    """Return the blocks of a reStructuredText."""
    core = need("docutils.core", "docutils", ".rst")
    settings = {**_SETTINGS, "warning_stream": io.StringIO()}
    tree = core.publish_doctree(text, settings_overrides=settings)
    blocks: list[Block] = []
    _walk(tree, 0, blocks)
    return Reading(blocks=tuple(blocks), title=tree.get("title", ""))


def _walk(node: Any, level: int, blocks: list[Block]) -> None:
    for child in node.children:
        name, line = child.tagname, int(child.line or 0)
        if name == "section":
            _walk(child, level + 1, blocks)
        elif name in ("title", "subtitle", "rubric"):
            blocks.append(Block(kind="heading", text=child.astext(), level=max(level, 1), line=line))
        elif name in ("bullet_list", "enumerated_list", "definition_list", "field_list", "option_list"):
            blocks.append(_list(child, line))
        elif name in ("literal_block", "doctest_block"):
            classes = [word for word in child.get("classes", ()) if word != "code"]
            lines = tuple(child.astext().split("\n"))
            blocks.append(fenced(lines, info=" ".join(classes[:1]), line=line))
        elif name == "table":
            rows = [[entry.astext() for entry in row] for row in child.findall() if row.tagname == "row"]
            found = table(rows, line=line)
            blocks += [found] if found else []
        elif name in ("comment", "system_message", "substitution_definition", "target", "topic", "docinfo"):
            continue
        elif name in ("paragraph", "line_block", "term"):
            blocks.append(Block(kind="text", text=child.astext(), line=line))
        elif hasattr(child, "children"):
            _walk(child, level, blocks)


def _list(node: Any, line: int) -> Block:
    numbered = node.tagname == "enumerated_list"
    items = []
    for number, item in enumerate(node.children, start=1):
        mark = f"{number}." if numbered else "-"
        text = item.astext().replace("\n\n", "\n").replace("\n", "\n  ")
        items.append(f"{mark} {text}")
    return Block(kind="list", text="\n".join(items), parts=tuple(items), line=line)
