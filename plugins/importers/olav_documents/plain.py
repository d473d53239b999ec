"""Plain text to blocks: paragraphs between blank lines, and the lines that are plainly headings."""

from __future__ import annotations

import re

from olav_documents.reading import Block, Reading

MAX_HEADING_CHARS = 80
_NUMBERED = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,4})[.、)]?[ \t]+\S")
_CHAPTER = re.compile(r"第[一二三四五六七八九十百零\d]{1,5}([章节篇部])|[一二三四五六七八九十]{1,3}、")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 &/,:'()-]{3,}\Z")
_UNDERLINE = re.compile(r"([=\-~])\1{2,}\s*\Z")
_ITEM = re.compile(r"\s*(?:[-*•·●▪]|\d{1,3}[.)、]|[(（]\d{1,3}[)）])\s*\S")
_END = ("。", "！", "？", "；", ".", "!", "?", ";", ",", "，", ":", "：")


def read_plain(text: str) -> Reading:
    """Return the blocks of a plain text."""
    blocks: list[Block] = []
    paragraph: list[str] = []
    start = 0
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip():
            start = start if paragraph else number
            paragraph.append(line.rstrip())
            continue
        if paragraph:
            blocks += _blocks(paragraph, start)
            paragraph = []
    return Reading(blocks=tuple(blocks))


def heading_level(line: str) -> int:
    """Return the level of a line that is a heading by its looks, 0 when it is none."""
    line = line.strip()
    if not line or len(line) > MAX_HEADING_CHARS or line.endswith(_END):
        return 0
    if found := _CHAPTER.match(line):
        return 2 if found[1] in ("节", None) else 1
    if found := _NUMBERED.match(line):
        return found[1].count(".") + 1
    return 1 if _CAPITALS.match(line) else 0


def paragraph_block(lines: list[str], *, line: int = 0, page: int | None = None) -> Block:
    """Return the lines as a list when they begin like items, else as a text."""
    parts: list[str] = []
    for one in lines:
        if _ITEM.match(one) or not parts:
            parts.append(one)
        else:
            parts[-1] += "\n" + one
    is_list = len(parts) > 1 and all(_ITEM.match(part) for part in parts[1:])
    text = "\n".join(lines)
    if is_list:
        return Block(kind="list", text=text, parts=tuple(parts), line=line, page=page)
    return Block(kind="text", text=text, line=line, page=page)


def _blocks(lines: list[str], start: int) -> list[Block]:
    if len(lines) > 1 and len(lines[0]) <= MAX_HEADING_CHARS and (mark := _UNDERLINE.match(lines[1].strip())):
        level = 1 if mark[1] == "=" else 2
        rest = [paragraph_block(lines[2:], line=start + 2)] if lines[2:] else []
        return [Block(kind="heading", text=lines[0].strip(), level=level, line=start), *rest]
    level = heading_level(lines[0]) if len(lines) == 1 else 0
    if level:
        return [Block(kind="heading", text=lines[0].strip(), level=level, line=start)]
    return [paragraph_block(lines, line=start)]
