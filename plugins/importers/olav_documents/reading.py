"""What every reader gives: a document as a row of blocks."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from attrs import field, frozen

#: Larger files are refused: what is read of one file is held whole.
MAX_BYTES = 512 * 1024 * 1024

Kind = Literal["heading", "text", "list", "code", "table"]


class Unreadable(Exception):
    """The file cannot be read as what it claims to be; `line` counts from 1, 0 for the whole file."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@frozen(kw_only=True)
class Block:
    """A heading (`level` from 1), paragraph, list, code block or table, as Markdown.

    `parts`: the pieces that it may be cut between when it is too long (items, rows, lines), `head`: what
    each cut of it begins with (a table's header, a fence), `tail`: what each ends with. `info`: the language
    of a code block, whose lines without the fence are `parts`. `page` and `line`: where it begins.
    """

    kind: Kind
    text: str
    level: int = 0
    parts: tuple[str, ...] = ()
    head: str = ""
    tail: str = ""
    info: str = ""
    page: int | None = None
    line: int = 0


@frozen(kw_only=True)
class Reading:
    """A document as read. `problems`: (line, message) of what is left out, such as an unreadable page."""

    blocks: tuple[Block, ...]
    title: str = ""
    problems: tuple[tuple[int, str], ...] = field(factory=tuple)


def need(module: str, package: str, suffix: str) -> Any:
    """Import a library of the extra `documents`; Unreadable says what to install when it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise Unreadable(
            f"reading {suffix} needs the package {package}. Install it: pip install 'olav-core[documents]'."
        ) from error


def fenced(lines: tuple[str, ...], *, info: str = "", page: int | None = None, line: int = 0) -> Block:
    """Return a code block of these lines."""
    ticks = "```" if not any("```" in text for text in lines) else "~~~~"
    head = f"{ticks}{info}"
    text = "\n".join([head, *lines, ticks])
    return Block(kind="code", text=text, parts=lines, head=head, tail=ticks, info=info, page=page, line=line)


def table(rows: list[list[str]], *, page: int | None = None, line: int = 0) -> Block | None:
    """Return a Markdown table; the first row is its header. None when there is nothing in it."""
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    if not any(any(row) for row in cells):
        return None
    texts = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in cells]
    head = "\n".join([texts[0], f"|{' --- |' * width}"])
    parts = tuple(texts[1:])
    return Block(kind="table", text="\n".join([head, *parts]), parts=parts, head=head, page=page, line=line)
