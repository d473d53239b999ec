"""A fault: what is wrong with a file."""

from __future__ import annotations

from attrs import frozen


@frozen
class Fault:
    """What is wrong with a file: `line` counts from 1, 0 means the whole file.

    A fault keeps the file out. One that does not block (a broken diagram in a document, an unreadable page)
    leaves out what it is about: the rest is imported, and no row that the file brought before is retired.
    """

    path: str
    line: int
    message: str
    blocks: bool = True

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"
