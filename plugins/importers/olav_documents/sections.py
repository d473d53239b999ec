"""A document as a tree of sections."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from olav_documents.reading import Block


@define
class Section:
    """A heading, the blocks below it up to the next heading, and its subsections."""

    title: str = ""
    level: int = 0
    lead: list[Block] = field(factory=list)
    sections: list[Section] = field(factory=list)
    page: int | None = None
    line: int = 0

    @property
    def body(self) -> str:
        """Its text without its own heading, those of its subsections in it."""
        return "\n\n".join([*(block.text for block in self.lead), *(child.whole for child in self.sections)])

    @property
    def whole(self) -> str:
        """Its text with its heading."""
        body = self.body
        return f"{'#' * min(self.level, 6)} {self.title}" + (f"\n\n{body}" if body else "")

    @property
    def first_page(self) -> int | None:
        """The page of its first text."""
        if self.lead:
            return self.lead[0].page
        return self.page if self.page is not None or not self.sections else self.sections[0].first_page

    @property
    def first_line(self) -> int:
        return self.lead[0].line if self.lead else self.line


def section_tree(blocks: Sequence[Block]) -> Section:
    """Return the document as sections; a level that is skipped is no level."""
    root = Section()
    open_sections = [root]
    for block in blocks:
        if block.kind != "heading":
            open_sections[-1].lead.append(block)
            continue
        while len(open_sections) > 1 and open_sections[-1].level >= block.level:
            open_sections.pop()
        section = Section(block.text, block.level, page=block.page, line=block.line)
        open_sections[-1].sections.append(section)
        open_sections.append(section)
    return root
