"""The spool's lines as today's redactors leave them: what an earlier release wrote and nobody stored yet."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from olav_core.errors import CaptureError
from olav_core.specs import Fault

if TYPE_CHECKING:
    from olav_core.host.registry import Registry
    from olav_core.memory import Memory
    from olav_core.redaction.report import RescanReport

#: Of a line what only identifies it: a mark would make another call of it.
_KEPT = ("v", "uid", "verb", "scope", "time")


def rescan_spool(memory: Memory, report: RescanReport, *, write: bool) -> None:
    """Mask the lines of finished segments and the failed ones; a segment that is still written was redacted
    by its writer."""
    registry = memory.registry

    def mask(line: bytes) -> bytes:
        report.lines += 1
        clean, kinds = _masked(line, registry)
        if clean != line:
            report.masked_lines += 1
            report.count(kinds)
        return clean

    try:
        whole = memory.captures.spool.rewrite(mask, write=write)
    except CaptureError as error:
        report.faults.append(Fault(str(memory.workspace.spool_directory), 0, str(error)))
        return
    if not whole:
        message = "another process drains the spool. Run it again when that is done."
        report.faults.append(Fault(str(memory.workspace.spool_directory), 0, message))


def _masked(line: bytes, registry: Registry) -> tuple[bytes, dict[str, int]]:
    """Return a line masked, or as it was when nothing in it is secret, with the findings by kind."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):  # no event: nothing of it can be stored, its text may be a secret's
        text, found = registry.redact(line.decode("utf-8", "replace"))
        return (text.encode("utf-8") if found else line), _by_kind(found)
    kinds: dict[str, int] = {}
    inner = data.pop("event", None)  # of a failed line: the line that it was
    if isinstance(inner, str):
        clean, more = _masked(inner.encode("utf-8"), registry)
        _add(kinds, more)
        inner = clean.decode("utf-8")
    kept = {name: data.pop(name) for name in _KEPT if name in data}
    clean_data, found = registry.redact(data)
    _add(kinds, _by_kind(found))
    if not kinds:
        return line, {}
    out: dict[str, Any] = {**kept, **clean_data, **({} if inner is None else {"event": inner})}
    return json.dumps(out, ensure_ascii=True, separators=(",", ":")).encode("ascii"), kinds


def _by_kind(found: Any) -> dict[str, int]:
    return {finding.kind: finding.count for finding in found}


def _add(kinds: dict[str, int], more: dict[str, int]) -> None:
    for kind, count in more.items():
        kinds[kind] = kinds.get(kind, 0) + count
