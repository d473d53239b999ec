"""Tool calls as JSON lines, from any framework: what `olav capture import` reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import asdict, field, frozen

from olav_core.capture.call import tool_name
from olav_core.capture.drain_report import DrainReport
from olav_core.errors import RecordError, WorkspaceError, did_you_mean
from olav_core.importing.jsonl import decode_line
from olav_core.specs import Fault

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: Field of a line -> the types of its value; any JSON where none is named.
FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "tool": (str,),
    "args": (),
    "result": (),
    "status": (str, type(None)),
    "agent": (str, type(None)),
    "scope": (str, type(None)),
    "run": (str, type(None)),
    "call": (str, type(None)),
    "time": (str, type(None)),
    "capture": (bool, type(None)),
}


@frozen(kw_only=True)
class ImportedCall:
    """What became of one line."""

    line: int
    tool: str
    captured: bool
    verb: str
    reason: str


@frozen(kw_only=True)
class CallsReport:
    """The outcome of one import; nothing was written when `applied` is False."""

    lines: int
    applied: bool
    calls: tuple[ImportedCall, ...] = ()
    faults: tuple[Fault, ...] = ()
    drained: DrainReport = field(factory=DrainReport)

    def to_dict(self) -> dict[str, Any]:
        """Return the object of `olav capture import --json`."""
        captured = sum(call.captured for call in self.calls)
        return {
            "lines": self.lines,
            "captured": captured,
            "skipped": len(self.calls) - captured,
            **asdict(self.drained),
            "applied": self.applied,
            "calls": [asdict(call) for call in self.calls],
            "faults": [asdict(fault) for fault in self.faults],
        }


def import_file(
    memory: Memory,
    path: str | os.PathLike[str],
    *,
    agent: str | None = None,
    dry_run: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> CallsReport:
    """Capture the calls of a UTF-8 file and store them; a line with a fault does not keep the others out.

    A line without `call` is known by its content (and which of several alike it is), so that a file that is
    imported again counts nothing twice. Raises WorkspaceError (the file), CaptureError and PluginError.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    lines = [
        (number, line)
        for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
        if line.strip()
    ]
    calls: list[ImportedCall] = []
    faults: list[Fault] = []
    seen: dict[bytes, int] = {}
    for done, (number, line) in enumerate(lines, start=1):
        try:
            values = _values(line)
            alike = seen[line] = seen.get(line, 0) + 1
            values.setdefault("call", f"line {alike}: {line.decode('utf-8', 'replace')}")
            values.setdefault("agent", agent or "core")
            calls.append(_capture(memory, number, values, dry_run))
        except (ValueError, RecordError) as error:
            faults.append(Fault(str(path), number, str(error)))
        if on_progress is not None:
            on_progress(done, len(lines))
    drained = DrainReport() if dry_run else memory.captures.drain()
    return CallsReport(
        lines=len(lines), applied=not dry_run, calls=tuple(calls), faults=tuple(faults), drained=drained
    )


def _capture(memory: Memory, number: int, values: dict[str, Any], dry_run: bool) -> ImportedCall:
    tool = tool_name(values["tool"])
    decision = memory.captures.decide(
        tool,
        values.get("args"),
        values.get("result"),
        status=values.get("status"),
        mark=values.get("mark"),
    )
    if decision.captured and not dry_run:
        memory.capture(**values)
    return ImportedCall(
        line=number, tool=tool, captured=decision.captured, verb=decision.verb, reason=decision.reason
    )


def _values(line: bytes) -> dict[str, Any]:
    """Return the keyword arguments of Memory.capture that a line holds or raise ValueError with its fault."""
    value = decode_line(line, like='{"tool": …, "args": …}')
    for name, item in value.items():
        if name not in FIELDS:
            raise ValueError(f"unknown field {name!r}.{did_you_mean(name, FIELDS)}")
        if FIELDS[name] and not isinstance(item, FIELDS[name]):
            raise ValueError(f"field {name!r} holds a {type(item).__name__}.")
    if "tool" not in value:
        raise ValueError("field 'tool' is missing. Give each line the name of its tool.")
    given = {name: item for name, item in value.items() if item is not None}
    if "capture" in given:
        given["mark"] = given.pop("capture")
    return given
