"""The answer of a command under `--json`: one object, alone on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

_stdout: TextIO | None = None
_given = False


def stream() -> TextIO:
    """Return where an answer goes: the process's stdout, also while that is kept for the answer."""
    return _stdout or sys.stdout


@contextmanager
def kept_alone() -> Iterator[None]:
    """Send to stderr whatever else is printed meanwhile: by a plug-in, its import, a library."""
    global _stdout, _given
    before = _stdout, _given
    _stdout, _given = sys.stdout, False
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _stdout, _given = before


def give(text: str) -> bool:
    """Write the one object; False, and nothing written, when there was one before."""
    global _given
    if _stdout is not None and _given:
        return False
    _given = True
    out = stream()
    out.write(text + "\n")
    out.flush()
    return True
