"""A PDF with text, written by the library that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


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
