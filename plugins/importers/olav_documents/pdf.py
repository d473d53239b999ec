"""PDF to blocks, by pypdf: lines to paragraphs, headings by outline and type size, page by page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import field, frozen

from olav_documents.plain import heading_level, paragraph_block
from olav_documents.reading import Block, Reading, Unreadable, need

#: Type this much larger than that of most of the text is a heading's.
_HEADING_SIZE = 1.15
_MAX_HEADING_CHARS = 120
#: A first or last line that stands on this share of the pages is a running head or foot.
_RUNNING_SHARE = 0.5
_EDGE_LINES = 2
_DIGITS = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"[.!?。！？:：;；]['\"”’)）]*\Z")
_ITEM = re.compile(r"\s*(?:[-*•·●▪]|\d{1,3}[.)、]|[(（]\d{1,3}[)）])\s+\S")
_WIDE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")


@frozen
class _Page:
    number: int
    lines: tuple[str, ...]
    sizes: dict[str, float] = field(factory=dict)


def read_pdf(path: Path) -> Reading:
    """Return the blocks of a PDF; a page that cannot be read is a problem, and the others are read."""
    pypdf = need("pypdf", "pypdf", ".pdf")
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("needs a password. Save it without one.")
        count = len(reader.pages)
    except pypdf.errors.PyPdfError as error:
        raise Unreadable(f"is no sound PDF: {error}. Print it to a new PDF.") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, NotImplementedError) as error:
        raise Unreadable(f"is no sound PDF ({type(error).__name__}: {error}).") from error
    pages: list[_Page] = []
    problems: list[tuple[int, str]] = []
    for number in range(1, count + 1):
        try:
            pages.append(_page(reader.pages[number - 1], number))
        except Exception as error:  # a damaged page may break pypdf anywhere
            problems.append((0, f"page {number} cannot be read ({type(error).__name__}: {error})."))
    if not any(page.lines for page in pages):
        raise Unreadable("has no text on any page: it holds pictures. Run it through text recognition first.")
    outline = _outline(reader)
    blocks = _blocks(_without_running_lines(pages), outline)
    return Reading(blocks=tuple(blocks), title=_title(reader), problems=tuple(problems))


def _page(page: Any, number: int) -> _Page:
    sizes: dict[str, float] = {}

    def visit(text: str, _: Any, matrix: Any, __: Any, size: float) -> None:
        scale = (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5 if matrix else 1.0
        for line in text.split("\n"):
            if line.strip():
                sizes[_key(line)] = round(float(size or 0) * (scale or 1.0), 1)

    text = page.extract_text(visitor_text=visit)
    return _Page(number, tuple(line.strip() for line in text.split("\n") if line.strip()), sizes)


def _key(line: str) -> str:
    return "".join(line.split())


def _title(reader: Any) -> str:
    try:
        return str((reader.metadata and reader.metadata.title) or "").strip()
    except Exception:  # damaged metadata must not keep the text out
        return ""


def _outline(reader: Any) -> dict[str, int]:
    """Return the bookmarks' titles with their level from 1."""
    found: dict[str, int] = {}

    def walk(items: Iterable[Any], level: int) -> None:
        for entry in items:
            if isinstance(entry, list):
                walk(entry, level + 1)
            elif getattr(entry, "title", None):
                found.setdefault(_key(str(entry.title)), level)

    try:
        walk(reader.outline, 1)
    except Exception:  # a damaged outline must not keep the text out
        return {}
    return found


def _without_running_lines(pages: list[_Page]) -> list[_Page]:
    if len(pages) < 4:
        return pages
    edges = Counter(mark for page in pages for mark in {_running(line) for line in _edges(page)})
    running = {mark for mark, count in edges.items() if count >= len(pages) * _RUNNING_SHARE}
    kept = []
    for page in pages:
        outer = set(range(_EDGE_LINES)) | set(range(len(page.lines) - _EDGE_LINES, len(page.lines)))
        lines = [line for n, line in enumerate(page.lines) if n not in outer or _running(line) not in running]
        kept.append(_Page(page.number, tuple(lines), page.sizes))
    return kept


def _edges(page: _Page) -> tuple[str, ...]:
    return page.lines[:_EDGE_LINES] + page.lines[-_EDGE_LINES:]


def _running(line: str) -> str:
    return _DIGITS.sub("#", _key(line))


def _blocks(pages: list[_Page], outline: dict[str, int]) -> list[Block]:
    weights: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            weights[page.sizes.get(_key(line), 0.0)] += len(line)
    body = weights.most_common(1)[0][0] if weights else 0.0
    large = sorted((size for size in weights if body and size >= body * _HEADING_SIZE), reverse=True)
    width = max((len(line) for page in pages for line in page.lines), default=0)
    blocks: list[Block] = []
    paragraph: list[str] = []
    begun = 1

    def flush() -> None:
        if paragraph:
            blocks.append(_joined(paragraph, begun))
            paragraph.clear()

    for page in pages:
        for line in page.lines:
            level = _level(line, page, outline, large)
            if level:
                flush()
                blocks.append(Block(kind="heading", text=line, level=level, page=page.number))
                continue
            ended = bool(paragraph) and bool(_SENTENCE_END.search(paragraph[-1]))
            if paragraph and (_ITEM.match(line) or (ended and len(paragraph[-1]) < width * 0.8)):
                flush()
            if not paragraph:
                begun = page.number
            paragraph.append(line)
        if paragraph and _SENTENCE_END.search(paragraph[-1]):
            flush()  # only a sentence that goes on joins two pages
    flush()
    return blocks


def _level(line: str, page: _Page, outline: dict[str, int], large: list[float]) -> int:
    if len(line) > _MAX_HEADING_CHARS:
        return 0
    if level := outline.get(_key(line)):
        return level
    size = page.sizes.get(_key(line), 0.0)
    if size in large and not line.endswith(("。", ".", ",", "，")):
        return min(large.index(size) + 1, 6)
    # With neither outline nor type sizes to go by, numbering has to do.
    return heading_level(line) if not outline and not large and "." in line.split(" ", 1)[0] else 0


def _joined(lines: list[str], page: int) -> Block:
    text = lines[0]
    for line in lines[1:]:
        if text.endswith("-") and line[:1].islower():
            text = text[:-1] + line
        elif _WIDE.match(text[-1:]) and _WIDE.match(line[:1]):
            text += line
        else:
            text += " " + line
    return paragraph_block([text], page=page)
