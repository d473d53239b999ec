"""Word documents (.docx) to blocks, by python-docx."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

from olav_documents.reading import MAX_BYTES, Block, Reading, Unreadable, need, table

_HEADING = re.compile(r"(?:heading|标题)\s*(\d)", re.IGNORECASE)


def read_docx(path: Path) -> Reading:
    """Return the blocks of a Word document: headings by style, lists, tables, paragraphs, in their order."""
    docx = need("docx", "python-docx", ".docx")
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
        if size > MAX_BYTES:
            raise Unreadable(f"unpacks to {size:,} bytes, the limit is {MAX_BYTES:,}. Split the document.")
        document = docx.Document(str(path))
    except (OSError, Unreadable):
        raise
    except Exception as error:  # a damaged file may break zipfile, lxml and python-docx anywhere
        raise Unreadable(f"is no Word document (.docx): {error}. Save it anew as .docx.") from error
    blocks: list[Block] = []
    items: list[str] = []
    title = str(document.core_properties.title or "")

    def flush() -> None:
        if items:
            blocks.append(Block(kind="list", text="\n".join(items), parts=tuple(items)))
            items.clear()

    for element in document.iter_inner_content():
        if hasattr(element, "rows"):
            flush()
            found = table(_rows(element))
            blocks += [found] if found else []
            continue
        text = element.text.strip()
        style = element.style.name if element.style is not None else ""
        if not text:
            continue
        if _is_item(element, style):
            items.append(f"- {text}")
            continue
        flush()
        level = _level(element, style)
        if level:
            title = title or (text if level == 1 else "")
            blocks.append(Block(kind="heading", text=" ".join(text.split()), level=level))
        else:
            blocks.append(Block(kind="text", text=text))
    flush()
    return Reading(blocks=tuple(blocks), title=title)


def _level(paragraph: Any, style: str) -> int:
    identifier = paragraph.style.style_id if paragraph.style is not None else ""
    found = _HEADING.match(style) or _HEADING.match(identifier)
    if found:
        return int(found[1])
    return 1 if style == "Title" else 0


def _is_item(paragraph: Any, style: str) -> bool:
    properties = paragraph._p.pPr
    return style.startswith(("List", "列表")) or (properties is not None and properties.numPr is not None)


def _rows(element: Any) -> list[list[str]]:
    rows = []
    for row in element.rows:
        cells: list[str] = []
        seen: set[int] = set()
        for cell in row.cells:  # a merged cell comes once for every column
            if id(cell._tc) not in seen:
                seen.add(id(cell._tc))
                cells.append(cell.text)
        rows.append(cells)
    return rows
