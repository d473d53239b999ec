"""Reading benchmark files: JSON and JSON lines, with errors that name file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from olav_bench.fields import Faults
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
    except RecursionError:
        raise RecordError(f"{path} is nested too deep to be read. Check that it is the right file.") from None


def read_lines(path: Path, faults: Faults | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) of a JSON-lines file. Raises RecordError when it cannot be read;
    what is wrong with a line is noted in `faults`, and raises at once without one."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    noted = Faults() if faults is None else faults
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"a {type(row).__name__}, expected an object")
        except (ValueError, RecursionError) as error:
            what = "nested too deep" if isinstance(error, RecursionError) else str(error)
            noted.add(f"{path}:{number}", f"no JSON object: {what}. Mend that line.")
            if faults is None:
                noted.check()
            continue
        yield number, row


def need(row: dict[str, Any], key: str, where: str) -> Any:
    """Return `row[key]` or raise RecordError naming the place."""
    if key not in row:
        raise RecordError(f"{where}: there is no {key!r}. It has: {', '.join(map(str, row)) or 'nothing'}.")
    return row[key]
