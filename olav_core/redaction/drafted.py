"""The files of `.curator_drafts` as today's redactors leave them: what waits, and what became of the rest."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from olav_core.atomic_write import write_atomically
from olav_core.drafts.draft import MemoryDraft
from olav_core.drafts.folder import DraftFolder
from olav_core.errors import OlavError, RecordError
from olav_core.specs import Fault

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.redaction.report import RescanReport

#: What a draft and its rows say; the rest of them identifies, and a mark would make another of it.
_TOLD: Final = ("body", "content", "keywords", "reason")
_ROW_TOLD: Final = ("text", "metadata", "tags")


def rescan_drafts(memory: Memory, report: RescanReport, *, write: bool) -> None:
    """Mask the drafts. One that waits is another one then: an answer to what was shown does not commit it."""
    folder = DraftFolder(memory.workspace.root)
    if not folder.path.is_dir():
        return
    with folder.locked():
        for path in sorted(folder.path.rglob("*.json")):
            report.drafts += 1
            _rescan(memory, report, path, write)


def _rescan(memory: Memory, report: RescanReport, path: Path, write: bool) -> None:
    place = path.relative_to(memory.workspace.root).as_posix()
    kinds: dict[str, int] = {}

    def redact(value: Any) -> Any:
        clean, findings = memory.registry.redact(value)
        for finding in findings:
            kinds[finding.kind] = kinds.get(finding.kind, 0) + finding.count
        return clean

    if redact(path.name) != path.name:
        report.faults.append(Fault(place, 0, "its name looks like a secret. Reject the draft, or remove it."))
        kinds.clear()
    try:
        raw = path.read_text(encoding="utf-8", errors="replace")
        clean = _masked(raw, redact)
        if not kinds:
            return
        if write:
            told = path.stat()
            write_atomically(path, clean.encode("utf-8"))
            os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))  # drafts are listed by their age
    except (OlavError, OSError) as error:
        report.faults.append(Fault(place, 0, f"was not masked: {error}"))
        return
    report.masked_drafts += 1
    report.count(kinds)


def _masked(raw: str, redact: Any) -> str:
    try:
        entry = json.loads(raw)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        return str(redact(raw))
    if isinstance(entry.get("draft"), dict):
        entry["draft"] = _draft(entry["draft"], redact)
        if isinstance(entry.get("confirmation"), dict) and "text" in entry["confirmation"]:
            entry["confirmation"]["text"] = redact(entry["confirmation"]["text"])
        entry["before"] = _before(entry.get("before"), redact)
    else:
        entry = _draft(entry, redact)
    return json.dumps(entry, ensure_ascii=False, indent=2) + "\n"


def _draft(values: dict[str, Any], redact: Any) -> dict[str, Any]:
    """Only a draft that was whole gets the hash of what it holds now: a changed one stays refused."""
    try:
        MemoryDraft.from_json(json.dumps(values), name="draft")
        whole = True
    except RecordError:
        whole = False
    clean = {name: redact(value) if name in _TOLD else value for name, value in values.items()}
    if isinstance(values.get("rows"), list):
        clean["rows"] = [_row(row, redact) for row in values["rows"]]
    if whole:
        fields = {name: value for name, value in clean.items() if name not in ("version", "hash")}
        fields |= {name: tuple(fields[name]) for name in ("keywords", "rows")}
        clean["hash"] = MemoryDraft(**fields).hash
    return clean


def _row(row: Any, redact: Any) -> Any:
    if not isinstance(row, dict):
        return redact(row)
    return {name: redact(value) if name in _ROW_TOLD else value for name, value in row.items()}


def _before(before: Any, redact: Any) -> Any:
    """What stood there: rows, or a file's bytes in base64."""
    if isinstance(before, list):
        return [_row(row, redact) for row in before]
    if not isinstance(before, str):
        return before
    old = base64.b64decode(before).decode("utf-8", "surrogateescape")
    new = str(redact(old))
    return before if new == old else base64.b64encode(new.encode("utf-8", "surrogateescape")).decode("ascii")
