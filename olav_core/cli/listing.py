"""Entries of fixed columns and one text: on one line where it fits, else the text on a line of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.text import Text

#: The text stays on its entry's line when at least this many cells are left for it.
INLINE_CELLS = 40


@frozen
class Entry:
    """`cells`: the fixed columns. `text`: one line, cut where the terminal ends."""

    cells: Sequence[Text]
    text: Text


@frozen
class Listing:
    """A rich renderable. `headers` name the columns; those in `right` are aligned to the right.

    Fixed columns are never cut: on a terminal too narrow for them the lines run on.
    """

    headers: Sequence[str]
    entries: Sequence[Entry]
    right: frozenset[str] = frozenset()
    inline: bool = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        widths = [
            max([Text(header).cell_len, *(entry.cells[at].cell_len for entry in self.entries)])
            for at, header in enumerate(self.headers)
        ]
        gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= options.max_width else 1
        fixed = sum(widths) + gap * (len(widths) - 1)
        left = options.max_width - fixed - gap
        inline = self.inline and left >= INLINE_CELLS
        head = self._line([Text(header, style="bold") for header in self.headers], widths, gap)
        if inline:
            head.append(" " * (fixed - head.cell_len + gap)).append("text", style="bold")
        yield head
        yield Text("─" * (options.max_width if inline else min(fixed, options.max_width)), style="dim")
        for entry in self.entries:
            line = self._line(entry.cells, widths, gap)
            text = entry.text.copy()
            text.truncate(left if inline else options.max_width - 2, overflow="ellipsis")
            if inline:
                yield Text.assemble(line, " " * (fixed - line.cell_len + gap), text)
            else:
                yield line
                if text:
                    yield Text.assemble("  ", text)

    def _line(self, cells: Sequence[Text], widths: Sequence[int], gap: int) -> Text:
        from rich.text import Text

        line = Text(no_wrap=True, overflow="ignore")
        for at, cell in enumerate(cells):
            blanks = " " * (widths[at] - cell.cell_len)
            last = at == len(cells) - 1
            if self.headers[at] in self.right:
                line.append(blanks).append(cell)
            else:
                line.append(cell).append("" if last else blanks)
            line.append("" if last else " " * gap)
        return line
