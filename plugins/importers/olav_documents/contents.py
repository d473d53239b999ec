"""Tables of contents: passages that only name what other passages say."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Fewer entries may be a short list that says something.
LEAST_ENTRIES = 4
#: Of the lines; the rest is a caption, or a heading that was cut otherwise.
SHARE = 0.8
_MARK = re.compile(r"^\s*(?:#{1,6}\s|[-*+•·]\s)?\s*")
_NUMBER = re.compile(
    r"^(?:第[一二三四五六七八九十百\d]+[章节篇部]|[\d.]+[.、)]?|[一二三四五六七八九十]+、)\s*"
)
_ANCHOR_LINK = re.compile(r"^\[[^\]]+\]\(#[^)]*\)$")
#: "Overview ........ 3", also several of them in one line, as a PDF gives them.
_LEADER = re.compile(r"[^\n.…]{1,120}?(?:\.{4,200}|(?:\. ){4,100}|…{2,100}|·{4,200})\s{0,8}\d{1,4}(?!\d)")
_DOTS = ("....", ". . . .", "……", "····")


def names_of(headings: Iterable[str]) -> frozenset[str]:
    """Return a document's headings as `is_contents` compares them."""
    return frozenset(filter(None, map(_plain, headings)))


def is_contents(text: str, known: frozenset[str]) -> bool:
    """Tell whether a passage is a table of contents: links into the document, headings with leaders and page
    numbers, or lines that are the document's own headings. A list of links elsewhere is none: it tells
    them."""
    if any(dots in text for dots in _DOTS):
        rest, entries = _LEADER.subn("", text)
        if entries >= LEAST_ENTRIES and len(rest.strip()) <= (1 - SHARE) * len(text):
            return True

    def names(line: str) -> bool:
        without_page = line.rstrip("0123456789").rstrip(" \t.…·")
        return bool(_ANCHOR_LINK.match(_NUMBER.sub("", line))) or bool(
            {_plain(line), _plain(without_page)} & known
        )

    lines = [stripped for line in text.splitlines() if (stripped := _MARK.sub("", line).strip())]
    named = sum(map(names, lines))
    return named >= LEAST_ENTRIES and named >= SHARE * len(lines)


def _plain(line: str) -> str:
    """A heading without its number."""
    return " ".join(_NUMBER.sub("", line.strip()).casefold().split())
