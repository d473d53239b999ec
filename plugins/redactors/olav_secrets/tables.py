"""Tables: a column whose head names a secret, in CSV, Markdown, tabs and aligned listings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from olav_secrets.names import LIKELY, Named, named
from olav_secrets.shadow import View
from olav_secrets.span import Span
from olav_secrets.values import is_harmless, looks_typed
from olav_secrets.words import word_set

#: A head is a short line of names; the needles are those of the names that such columns have.
_NEEDLES = word_set("pass pwd pw secret token psk key community cred 密码 口令 密钥 团体")
_LONGEST_HEAD, _MOST_LINES = 400, 500
_NAME = re.compile(r"[\w .()/-]{1,40}\Z")
_RULE = re.compile(r"[\s|:+=-]+\Z")
_CELL = re.compile(r"\S+(?:[ ]\S+)*")
_DELIMITERS = ("|", "\t", ",", ";")


def find(view: View) -> Iterator[Span]:
    """Yield the typed values below such a head."""
    if "\n" not in view.text or not any(map(view.low_has, _NEEDLES)):
        return
    lines, place = [], 0
    for line in view.text.split("\n"):
        lines.append((place, line))
        place += len(line) + 1
    columns: list[tuple[int, Named | None]] = []
    delimiter, left = "", 0
    for start, line in lines:
        if left and columns and not _RULE.match(line):
            cells = list(_cells(line, delimiter))
            left = left - 1 if len(cells) == len(columns) else 0
            yield from _secrets(start, columns, cells if left else [], aligned=not delimiter)
        if not (left and columns):
            columns, delimiter = _head(line)
            left = _MOST_LINES


def _secrets(
    start: int, columns: list[tuple[int, Named | None]], cells: list[tuple[int, str]], *, aligned: bool
) -> Iterator[Span]:
    for (head, column), (low, text) in zip(columns, cells, strict=False):
        stands = not aligned or abs(low - head) <= 2
        if column and stands and " " not in text and looks_typed(text) and not is_harmless(text):
            yield Span(start + low, start + low + len(text), column.kind)


def _head(line: str) -> tuple[list[tuple[int, Named | None]], str]:
    """Return (place, meaning) of the columns and their delimiter ("" for blanks); no columns: no head."""
    if not 8 <= len(line) <= _LONGEST_HEAD or not any(needle in line.lower() for needle in _NEEDLES):
        return [], ""
    for delimiter in (*_DELIMITERS, ""):
        if delimiter and delimiter not in line:
            continue
        cells = list(_cells(line, delimiter))
        if len(cells) < 2 or not all(_NAME.match(text) for _, text in cells):
            continue
        columns = [(low, _likely(text)) for low, text in cells]
        if any(column for _, column in columns):
            return columns, delimiter
    return [], ""


def _likely(head: str) -> Named | None:
    found = named(head)
    return found if found and found.level >= LIKELY else None


def _cells(line: str, delimiter: str) -> Iterator[tuple[int, str]]:
    """Yield (place, text) of each cell, without blanks, quotes and the bars at the edges."""
    if not delimiter:
        yield from ((cell.start(), cell[0]) for cell in _CELL.finditer(line))
        return
    edge = delimiter == "|"
    low, parts = 0, line.split(delimiter)
    for number, part in enumerate(parts):
        text = part.strip().strip("\"'`")
        if not (edge and not text and number in {0, len(parts) - 1}):
            yield low + (part.find(text) if text else 0), text
        low += len(part) + 1
