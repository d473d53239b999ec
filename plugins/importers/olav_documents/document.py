"""A document to drafts: its passages, its guide, and the diagrams that stand in it."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from olav_core import Draft, Fault
from olav_documents.contents import is_contents, names_of
from olav_documents.encoding import decode
from olav_documents.graph import BadDiagram
from olav_documents.passages import passages
from olav_documents.reading import MAX_BYTES, Block, Reading, Unreadable
from olav_documents.sections import section_tree
from olav_documents.summary import summary_guide
from olav_documents.topology import NOTATIONS, diagram_drafts, read_graph


def import_document(path: Path) -> tuple[list[Draft], list[Fault]]:
    """Return what a document brings. A broken diagram or page is a fault that does not block the rest."""
    try:
        reading = read(path)
    except Unreadable as error:
        return [], [Fault(str(path), error.line, str(error))]
    faults = [Fault(str(path), line, message, blocks=False) for line, message in reading.problems]
    title = reading.title or _first_heading(reading) or path.stem
    blocks: list[Block] = []
    diagrams: list[Draft] = []
    for block, section in _with_section(reading.blocks):
        drafts: list[Draft] | None = None
        if block.kind == "code" and block.info.split(" ")[0] in NOTATIONS:
            try:
                drafts = _diagram(block, section, title, [draft.metadata["diagram"] for draft in diagrams])
            except Unreadable as error:
                faults.append(Fault(str(path), 0, str(error), blocks=False))
            except BadDiagram as error:
                line = block.line + error.line if block.line and error.line else block.line
                faults.append(Fault(str(path), line, str(error), blocks=False))
        if drafts is None:
            blocks.append(block)
        else:
            diagrams += drafts
    return [*_passages(blocks, title), *_summary(blocks, title, path), *diagrams], faults


def read(path: Path) -> Reading:
    """Return the blocks of a file, read as its name says; Unreadable when it is not that."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise Unreadable(f"has {size:,} bytes, the limit is {MAX_BYTES:,}. Split the document.")
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        from olav_documents.pdf import read_pdf

        return read_pdf(path)
    if suffix == ".docx":
        from olav_documents.docx import read_docx

        return read_docx(path)
    if suffix in (".html", ".htm"):
        from olav_documents.html import read_html

        return read_html(path.read_bytes())
    text = decode(path.read_bytes())
    if suffix == ".rst":
        from olav_documents.rst import read_rst

        return read_rst(text)
    if suffix == ".txt":
        from olav_documents.plain import read_plain

        return read_plain(text)
    from olav_documents.markdown import read_markdown

    return read_markdown(text)


def _passages(blocks: list[Block], title: str) -> list[Draft]:
    found = passages(blocks)
    headings = names_of(block.text for block in blocks if block.kind == "heading")
    anchors = ["", *(passage.anchor for passage in found), ""]
    drafts = []
    for place, passage in enumerate(found):
        path = passage.path[1:] if passage.path[:1] == (title,) else passage.path
        metadata = {
            "title": title,
            "section": " › ".join(path),
            "page": passage.page,
            "anchor": passage.anchor,
            "previous": anchors[place],
            "next": anchors[place + 2],
        }
        if is_contents(passage.text, headings):
            metadata["contents"] = True
        drafts.append(
            Draft(
                text=passage.text,
                category="document",
                metadata=metadata,
                origin="document",
                line=passage.line,
            )
        )
    return drafts


def _summary(blocks: list[Block], title: str, path: Path) -> list[Draft]:
    guide = summary_guide(title, path.name, section_tree(blocks))
    return [guide] if guide is not None else []


def _diagram(block: Block, section: str, title: str, taken: list[str]) -> list[Draft] | None:
    """Return the drafts of a diagram in a document, None when it is of a kind that has no nodes and links."""
    notation = NOTATIONS[block.info.split(" ")[0]]
    graph = read_graph(notation, "\n".join(block.parts))
    if graph is None:
        return None
    number, name = 1, section
    while name in taken:
        number += 1
        name = f"{section} {number}".strip()
    drafts = diagram_drafts(notation, "\n".join(block.parts), graph, diagram=name, title=section or title)
    return [evolve(draft, line=block.line) for draft in drafts]


def _first_heading(reading: Reading) -> str:
    headings = [block for block in reading.blocks if block.kind == "heading"]
    top = min((block.level for block in headings), default=0)
    # The one highest heading, or the first line of all, names the document.
    if headings and (headings[0] is reading.blocks[0] or [b.level for b in headings].count(top) == 1):
        return headings[0].text
    return ""


def _with_section(blocks: tuple[Block, ...]) -> list[tuple[Block, str]]:
    section, found = "", []
    for block in blocks:
        section = block.text if block.kind == "heading" else section
        found.append((block, section))
    return found
