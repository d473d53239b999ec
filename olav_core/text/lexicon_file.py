"""A lexicon's files: read, and held to their form."""

from __future__ import annotations

import re
from pathlib import Path

from olav_core.errors import ConfigError
from olav_core.text.lexicon import MAX_LANGUAGES

SUFFIX = ".tsv"
MAX_BYTES = 16 * 2**20

_NAME = r"[^\s|](?:[^\t|]*[^\s|])?"
_COLUMN = rf"{_NAME}(?:\|{_NAME})*"
_LINE = re.compile(rf"{_COLUMN}(?:\t{_COLUMN}){{1,{MAX_LANGUAGES - 1}}}")
_HOW = f"Write `name|other name<tab>name in another language|…`, 2 to {MAX_LANGUAGES} columns."


def read_folder(folder: Path) -> list[str]:
    """Return the lines of every `*.tsv` of a folder, by file name; none when there is no such folder.

    Raises ConfigError as `read_lines` does.
    """
    if not folder.is_dir():
        return []
    return [line for path in sorted(folder.glob(f"*{SUFFIX}")) for line in read_lines(path)]


def read_lines(path: Path) -> list[str]:
    """Return the lines of a lexicon without blank ones and those that begin with `#`.

    Raises ConfigError that names file and line when one is not of the form, is no UTF-8 or the file is
    larger than MAX_BYTES.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"The lexicon {path} cannot be read: {error.strerror}.") from error
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"The lexicon {path} has more than {MAX_BYTES:,} bytes. Divide it, or shorten it.")
    try:
        lines = raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        place = raw[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{place} is no UTF-8. Save the lexicon as UTF-8.") from error
    kept = []
    for number, line in enumerate(lines, 1):
        if _LINE.fullmatch(line):
            if line[0] != "#":
                kept.append(line)
        elif line.strip() and line[0] != "#":
            raise ConfigError(f"{path}:{number} is no line of a lexicon: {_fault(line)}. {_HOW}")
    return kept


def _fault(line: str) -> str:
    columns = line.split("\t")
    if len(columns) == 1:
        return f"{line[:60]!r} has no tab, so it has one column"
    if len(columns) > MAX_LANGUAGES:
        return f"it has {len(columns)} columns"
    for column in columns:
        for name in column.split("|"):
            if not name.strip():
                return f"a name of column {columns.index(column) + 1} is empty"
            if name != name.strip():
                return f"{name[:60]!r} has a blank at its end"
    return f"{line[:60]!r} cannot be read"
