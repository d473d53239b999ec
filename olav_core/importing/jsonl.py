"""Memories as JSON lines: one object a line, the fields of a Draft."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from attrs import fields_dict

from olav_core.errors import ImportFaultsError, WorkspaceError, did_you_mean
from olav_core.specs import Draft, Fault

_FIELDS = frozenset(fields_dict(Draft)) - {"line"}
_REQUIRED = ("text", "category")


def read_jsonl(path: str | os.PathLike[str]) -> list[Draft]:
    """Return a draft for each line of a UTF-8 file, `line` set; blank lines are passed over.

    Only the shape is checked here; category, scope, metadata and times are checked when the drafts are
    written. Raises ImportFaultsError with every faulty line, WorkspaceError when the file cannot be read.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    drafts, faults = [], []
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            drafts.append(draft_of(decode_line(line), number))
        except ValueError as error:
            faults.append(Fault(str(path), number, str(error)))
    if faults:
        lines = "\n".join(f"  {fault}" for fault in faults)
        raise ImportFaultsError(
            f"{len(faults)} faulty line(s):\n{lines}\nNothing was imported. Correct them and import again.",
            tuple(faults),
        )
    return drafts


def decode_line(line: bytes, *, like: str = '{"text": …, "category": …}') -> dict[str, Any]:
    """Return the object of one line or raise ValueError with the fault; `like` shows what is wanted."""
    try:
        value: Any = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"not UTF-8 at byte {error.start + 1} of the line. Save the file as UTF-8."
        ) from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}. Write one object a line.") from None
    except RecursionError:
        raise ValueError("nested too deeply. Flatten it.") from None
    if not isinstance(value, dict):
        raise ValueError(f"a {type(value).__name__} where an object is needed: {like}.")
    return value


def draft_of(value: dict[str, Any], number: int) -> Draft:
    """Return the draft of one line's object or raise ValueError with the fault."""
    for name in value:
        if name not in _FIELDS:
            raise ValueError(f"unknown field {name!r}.{did_you_mean(name, _FIELDS)}")
    for name in _REQUIRED:
        if not isinstance(value.get(name), str):
            raise ValueError(f"field {name!r} must be a string. Give each line text and category.")
    if not isinstance(value.get("metadata", {}), dict):
        raise ValueError("field 'metadata' must be an object.")
    if not isinstance(value.get("tags", []), list):
        raise ValueError("field 'tags' must be a list of strings.")
    return Draft(**{**value, "tags": tuple(value.get("tags", ())), "line": number})
