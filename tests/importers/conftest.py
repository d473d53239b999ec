"""A workspace that counts what it embeds, and real files made by the libraries that read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import olav_core
from olav_core import ImportReport, Memory, MemoryRecord, import_directory


class Desk:
    """The memory of a workspace `root`, and the imports into it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.root: Path = memory.workspace.root
        self.embedded = 0
        embed = memory.embedder.passages_each

        def passages_each(texts: Sequence[str], **options: Any) -> Any:
            self.embedded += len(texts)
            return embed(texts, **options)

        memory.embedder.passages_each = passages_each  # type: ignore[method-assign]

    def bring(self, path: Path, **options: Any) -> ImportReport:
        """Import a path and check what the report says of embeddings."""
        self.embedded = 0
        report = import_directory(self.memory, path, workspace=self.root, **options)
        assert report.embedded == self.embedded or not report.applied
        return report

    def rows(self, category: str = "document") -> list[MemoryRecord]:
        return self.memory.list(category=category)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        yield Desk(memory)


def counts(report: ImportReport) -> dict[str, int]:
    names = ("added", "changed", "moved", "unchanged", "retired", "erased", "embedded")
    return {name: getattr(report, name) for name in names if getattr(report, name)}


def write_pdf(path: Path, pages: Sequence[Sequence[tuple[float, str]]], title: str = "") -> None:
    """Write a PDF whose pages are lines of (type size, text); every character is mapped to Unicode."""
    from pypdf import PdfWriter
    from pypdf.generic import (
        ArrayObject,
        DecodedStreamObject,
        DictionaryObject,
        NameObject,
        NumberObject,
        TextStringObject,
    )

    def name(text: str) -> NameObject:
        return NameObject(f"/{text}")

    used = sorted({ord(char) for lines in pages for _, text in lines for char in text})
    writer = PdfWriter()
    unicode_map = DecodedStreamObject()
    unicode_map.set_data(
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        b"1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        + b"".join(b"1 beginbfchar <%04X> <%04X> endbfchar\n" % (code, code) for code in used)
        + b"endcmap end end"
    )
    inner = DictionaryObject(
        {
            name("Type"): name("Font"),
            name("Subtype"): name("CIDFontType2"),
            name("BaseFont"): name("Sans"),
            name("CIDSystemInfo"): DictionaryObject(
                {
                    name("Registry"): TextStringObject("Adobe"),
                    name("Ordering"): TextStringObject("Identity"),
                    name("Supplement"): NumberObject(0),
                }
            ),
            name("DW"): NumberObject(600),
        }
    )
    font = DictionaryObject(
        {
            name("Type"): name("Font"),
            name("Subtype"): name("Type0"),
            name("BaseFont"): name("Sans"),
            name("Encoding"): name("Identity-H"),
            name("DescendantFonts"): ArrayObject([writer._add_object(inner)]),
            name("ToUnicode"): writer._add_object(unicode_map),
        }
    )
    fonts = DictionaryObject({name("F1"): writer._add_object(font)})
    for lines in pages:
        page = writer.add_blank_page(width=595, height=842)
        page[name("Resources")] = DictionaryObject({name("Font"): fonts})
        commands, y = [], 800.0
        for size, text in lines:
            y -= size * 1.4
            code = text.encode("utf-16-be").hex().upper()
            commands.append(f"BT /F1 {size} Tf 1 0 0 1 50 {y:.1f} Tm <{code}> Tj ET")
        content = DecodedStreamObject()
        content.set_data("\n".join(commands).encode())
        page[name("Contents")] = writer._add_object(content)
    if title:
        writer.add_metadata({"/Title": title})
    with path.open("wb") as out:
        writer.write(out)
