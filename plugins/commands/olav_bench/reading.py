"""Reading benchmark files: JSON and JSON lines, with errors that name file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from olav_core import RecordError


def one_path(paths: Sequence[Path], what: str) -> Path:
    """Return the only path; raises RecordError when there is none or several."""
    if len(paths) != 1:
        raise RecordError(f"Give one path, {what}; there are {len(paths)}.")
    return paths[0]


def read_json(path: Path) -> Any:
    """Return the parsed file; raises RecordError when it cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    except ValueError as error:
        raise RecordError(f"{path} is no JSON file in UTF-8: {error}.") from error


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of a JSON-lines file; raises RecordError naming the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise RecordError(f"{path}:{number}: no JSON: {error}. Mend that line.") from error
        if not isinstance(row, dict):
            raise RecordError(f"{path}:{number}: a {type(row).__name__}, expected an object.")
        yield number, row


def need(row: dict[str, Any], key: str, where: str) -> Any:
    """Return `row[key]` or raise RecordError naming the place."""
    if key not in row:
        raise RecordError(f"{where}: there is no {key!r}. It has: {', '.join(map(str, row)) or 'nothing'}.")
    return row[key]
