"""Markdown (CommonMark with tables) to blocks; the source text is kept as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from olav_documents.reading import Block, Reading, fenced, need

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
#: A fence with what follows it, or where a heading begins after a blank line.
_CUT = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)|(?<=\n\n)(?=#{1,6}[ \t])", re.MULTILINE)
PART = 256 * 1024
_COMMENT = re.compile(r"\s*<!--.*?-->\s*", re.DOTALL)


def read_markdown(text: str) -> Reading:
    """Return the blocks of a Markdown text; a front matter gives only its `title`."""
    parser = need("markdown_it", "markdown-it-py", "Markdown").MarkdownIt("commonmark").enable("table")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    title, front = "", _FRONT_MATTER.match(text)
    if front:
        found = _TITLE.search(front[1])
        title = found[1].strip("\"'") if found else ""
        text = "\n" * front[0].count("\n") + text[front.end() :]
    blocks = []
    above = 0
    for part in _parts(text):
        lines, tokens = part.split("\n"), parser.parse(part)
        for place, token in enumerate(tokens):
            if token.level or token.map is None or token.nesting < 0:
                continue
            block = _block(tokens, place, lines, above)
            if block is not None:
                blocks.append(block)
        above += part.count("\n")
    return Reading(blocks=tuple(blocks), title=title)


def _parts(text: str) -> Iterator[str]:
    """Yield the text in parts of about PART characters, cut before headings: the parser's tokens take many
    times the memory of what they stand for."""
    start, fence = 0, ""
    for mark in _CUT.finditer(text):
        if mark[1]:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif not fence and mark.start() - start >= PART:
            yield text[start : mark.start()]
            start = mark.start()
    yield text[start:]


def _block(tokens: list[Any], place: int, lines: list[str], above: int) -> Block | None:
    token = tokens[place]
    first, last = token.map
    source = "\n".join(lines[first:last]).rstrip()
    line = above + first + 1
    if token.type == "heading_open":
        text = _plain(tokens[place + 1])
        return Block(kind="heading", text=text, level=int(token.tag[1:]), line=line) if text else None
    if token.type == "fence":
        return fenced(tuple(token.content.rstrip("\n").split("\n")), info=token.info.strip(), line=line)
    if token.type == "code_block":
        return fenced(tuple(token.content.rstrip("\n").split("\n")), line=line)
    if token.type in ("bullet_list_open", "ordered_list_open"):
        return Block(kind="list", text=source, parts=_items(tokens, place, lines), line=line)
    if token.type == "table_open":
        rows = source.split("\n")
        head = "\n".join(rows[:2])
        return Block(kind="table", text=source, parts=tuple(rows[2:]), head=head, line=line)
    if token.type in ("hr", "html_block") and not _COMMENT.sub("", source).strip("-*_ \t"):
        return None
    return Block(kind="text", text=source, line=line) if source.strip() else None


def _items(tokens: list[Any], place: int, lines: list[str]) -> tuple[str, ...]:
    items = []
    for token in tokens[place + 1 :]:
        if token.level == 0:
            break
        if token.type == "list_item_open" and token.level == 1:
            items.append("\n".join(lines[token.map[0] : token.map[1]]).rstrip())
    return tuple(items)


def _plain(inline: Any) -> str:
    parts = [child.content for child in inline.children or () if child.type in ("text", "code_inline")]
    return " ".join("".join(parts).split())
