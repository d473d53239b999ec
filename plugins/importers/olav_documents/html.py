"""HTML to blocks, by lxml; scripts, styles and navigation are left out."""

from __future__ import annotations

import re
from typing import Any

from olav_documents.encoding import decode
from olav_documents.reading import Block, Reading, Unreadable, fenced, need, table

_SKIPPED_TAGS = "script style template noscript nav svg iframe button form head header footer"
_SKIPPED = frozenset(_SKIPPED_TAGS.split())
_BLOCK_TAGS = (
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure h1 h2 h3 "
    "h4 h5 h6 hr li main ol p pre section summary table ul"
)
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_LANGUAGE = re.compile(r"\blanguage-([\w+-]+)")


def read_html(raw: bytes) -> Reading:
    """Return the blocks of an HTML page, those of its <main> or <article> when it has one."""
    lxml = need("lxml.html", "lxml", ".html")
    text = _decoded(raw)
    if not text.strip():
        return Reading(blocks=())
    # Without the encoding declaration: lxml refuses one in a text that is decoded already.
    text = re.sub(r"\A\s*<\?xml[^>]*\?>", "", text)
    try:
        page = lxml.document_fromstring(text)
    except Exception as error:  # lxml's own tree of errors
        raise Unreadable(f"is no HTML: {error}.") from error
    title = page.findtext(".//title") or ""
    mains = page.findall(".//main") or page.findall(".//article")
    roots = mains if mains else [page.find("body") if page.find("body") is not None else page]
    blocks: list[Block] = []
    for root in roots:
        _walk(root, blocks)
    return Reading(blocks=tuple(blocks), title=" ".join(title.split()))


def _decoded(raw: bytes) -> str:
    found = _CHARSET.search(raw[:4096])
    if found and not raw.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        name = found[1].decode("ascii").lower()
        try:
            return raw.decode("gb18030" if name in ("gb2312", "gbk") else name)
        except (UnicodeDecodeError, LookupError):
            pass  # pages lie about it
    return decode(raw)


def _walk(element: Any, blocks: list[Block]) -> None:
    """Add the blocks below an element; what stands between block elements is a paragraph of its own."""
    loose: list[str] = [element.text or ""]

    def flush() -> None:
        text = _squeezed("".join(loose))
        if text:
            blocks.append(Block(kind="text", text=text, line=element.sourceline or 0))
        loose.clear()

    for child in element:
        tag = child.tag if isinstance(child.tag, str) else ""
        if tag in _BLOCKS or any(inner.tag in _BLOCKS for inner in child.iter() if inner is not child):
            flush()
            _block(child, tag, blocks)
        elif tag and tag not in _SKIPPED:
            loose.append(" " if tag == "br" else _text(child))
        loose.append(child.tail or "")
    flush()


def _block(element: Any, tag: str, blocks: list[Block]) -> None:
    line = element.sourceline or 0
    if tag in _SKIPPED:
        return
    if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
        text = _squeezed(_text(element))
        if text:
            blocks.append(Block(kind="heading", text=text, level=int(tag[1]), line=line))
    elif tag == "pre":
        lines = tuple(element.text_content().strip("\n").split("\n"))
        names = " ".join(inner.get("class", "") for inner in element.iter() if isinstance(inner.tag, str))
        language = _LANGUAGE.search(names)
        info = language[1] if language else "mermaid" if "mermaid" in names.split() else ""
        if any(text.strip() for text in lines):
            blocks.append(fenced(lines, info=info, line=line))
    elif tag in ("ul", "ol"):
        items = tuple(_items(element, tag, 0))
        if items:
            blocks.append(Block(kind="list", text="\n".join(items), parts=items, line=line))
    elif tag == "table":
        rows = [
            [_squeezed(_text(cell)) for cell in row if cell.tag in ("td", "th")] for row in element.iter("tr")
        ]
        found = table(rows, line=line)
        blocks += [found] if found else []
    elif tag != "hr":
        _walk(element, blocks)


def _items(element: Any, tag: str, depth: int) -> list[str]:
    items = []
    for number, child in enumerate((child for child in element if child.tag == "li"), start=1):
        inner = [sub for sub in child if sub.tag in ("ul", "ol")]
        text = _squeezed(_text(child, without=("ul", "ol")))
        mark = f"{number}." if tag == "ol" else "-"
        lines = [f"{'  ' * depth}{mark} {text}"] if text else []
        for sub in inner:
            lines += _items(sub, sub.tag, depth + 1)
        if depth:
            items += lines
        elif lines:
            items.append("\n".join(lines))
    return items


def _text(element: Any, without: tuple[str, ...] = ()) -> str:
    parts = [element.text or ""]
    for child in element:
        tag = child.tag if isinstance(child.tag, str) else ""
        if tag and tag not in _SKIPPED and tag not in without:
            parts.append(" " if tag == "br" else _text(child, without))
        if tag in _BLOCKS:
            parts.append(" ")
        parts.append(child.tail or "")
    return "".join(parts)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
