"""Blocks to passages: cut at structure, about 500 tokens each, at places that an insertion does not move."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence

from attrs import frozen

from olav_core import estimate_tokens
from olav_documents.reading import Block
from olav_documents.sections import Section, section_tree
from olav_documents.windows import LEAST, MOST, windows

#: A section this short shares a passage with its neighbours.
SHORT = 200
_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?\n]+|\.(?=\s)|\Z)\s*")


@frozen(kw_only=True)
class Passage:
    """`path`: the headings above it, outermost first. `anchor`: a hash of the text, unique in a document."""

    text: str
    path: tuple[str, ...] = ()
    page: int | None = None
    line: int = 0
    anchor: str = ""


@frozen
class _Unit:
    """What a passage is put together from: a block, or a whole short section with its heading."""

    text: str
    page: int | None
    line: int
    section: Section | None = None

    @property
    def size(self) -> int:
        return estimate_tokens(self.text)


def passages(blocks: Sequence[Block]) -> list[Passage]:
    """Return the passages of a document, in order, each with its anchor."""
    root = section_tree(blocks)
    top: tuple[str, ...] = ()
    while len(root.sections) == 1 and not root.lead:  # the document's title stands above everything
        root = root.sections[0]
        top = (*top, root.title)
    found: list[Passage] = []
    seen: dict[str, int] = {}
    for text, path, page, line in _cut(root, top):
        normal = " ".join(unicodedata.normalize("NFKC", text).split())
        digest = hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        seen[digest] = seen.get(digest, 0) + 1
        anchor = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        found.append(Passage(text=text, path=path, page=page, line=line, anchor=anchor))
    return found


_Cut = tuple[str, tuple[str, ...], int | None, int]


def _cut(section: Section, path: tuple[str, ...]) -> Iterator[_Cut]:
    body = section.body
    if not body.strip():
        return
    if estimate_tokens(body) <= MOST:
        yield body, path, section.first_page, section.first_line
        return
    units: list[_Unit] = []
    for block in section.lead:
        units += _split(block)
    for child in section.sections:
        text = child.whole
        if estimate_tokens(text) < SHORT:
            units.append(_Unit(text, child.page, child.line, child))
            continue
        yield from _packed(units, path)
        units = []
        yield from _cut(child, (*path, child.title))
    yield from _packed(units, path)


def _packed(units: Sequence[_Unit], path: tuple[str, ...]) -> Iterator[_Cut]:
    for group in windows(units, lambda unit: unit.size, lambda unit: unit.text):
        first = group[0]
        if len(group) == 1 and first.section is not None:
            yield first.section.body, (*path, first.section.title), first.page, first.line
        else:
            yield "\n\n".join(unit.text for unit in group), path, first.page, first.line


def _split(block: Block) -> list[_Unit]:
    """Return a block as units that fit: whole if it does, else cut between its parts, else its sentences."""
    if estimate_tokens(block.text) <= MOST:
        return [_Unit(block.text, block.page, block.line)]
    frame = estimate_tokens(block.head + block.tail)
    parts = [piece for part in block.parts or _sentences(block.text) for piece in _slices(part, MOST - frame)]
    joint = "\n" if block.parts else ""
    units = []
    for group in windows(parts, lambda part: estimate_tokens(part) + (1 if joint else 0), str):
        text = joint.join(group).strip("\n")
        framed = "\n".join(filter(None, [block.head, text, block.tail]))
        if text.strip():
            units.append(_Unit(framed, block.page, block.line))
    return units


def _sentences(text: str) -> list[str]:
    return [found for found in _SENTENCE.findall(text) if found]


def _slices(text: str, tokens: int) -> list[str]:
    tokens = max(tokens, LEAST // 2)
    if estimate_tokens(text) <= tokens:
        return [text]
    step = tokens if estimate_tokens(text) * 2 > len(text) else tokens * 4
    return [text[start : start + step] for start in range(0, len(text), step)]
