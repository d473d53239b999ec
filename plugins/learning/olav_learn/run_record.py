"""Calls of past runs, from JSON lines or from the audit trail, and which of them failed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from olav_core import Fault, Memory, Registry, WorkspaceError

#: Statuses that frameworks give a call that went through; anything else that is given is a failure.
_FINE: Final = frozenset(("", "success", "succeeded", "ok", "done", "complete", "completed", "finished"))
#: A person said no, or nobody answered: that teaches nothing about the tool.
_NO_FAILURE: Final = frozenset(("denied", "rejected", "interrupted", "cancelled", "canceled", "skipped"))
_ERROR_KEYS: Final = ("error", "message", "detail", "stderr", "reason", "错误", "消息", "原因")
MAX_CAUSE_CHARS: Final = 160
_VARYING = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b|\d+|\"[^\"]*\"|'[^']*'"
)


@frozen(kw_only=True)
class RunCall:
    """One call of a run. `uid` is the same whenever it is told again; `failed` None: it went through."""

    uid: str
    tool: str
    args: Mapping[str, Any] = field(factory=dict)
    failed: str | None = None
    said: str = ""
    run: str = ""
    time: datetime = field(factory=lambda: datetime.now(UTC))

    @property
    def args_key(self) -> str:
        return hashlib.sha256(_canonical(self.args).encode("utf-8", "replace")).hexdigest()[:12]

    @property
    def source(self) -> str:
        """What a reflection remembers of it: which arguments, which call."""
        return f"{self.args_key}:{self.uid}"


def read_calls(memory: Memory, path: Path) -> tuple[list[RunCall], list[Fault]]:
    """Return the calls of a JSON-lines file in its order, and its faulty lines.

    Fields are those of `olav capture import`: tool (needed), args, result, status, run, call, time; and
    `error`. A call without a time happened when the file was written.
    """
    try:
        lines = path.read_bytes().splitlines()
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    calls, faults = [], []
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            calls.append(_call(memory.registry, json.loads(raw), written))
        except (ValueError, TypeError, RecursionError) as error:
            faults.append(Fault(str(path), number, f"{error}"))
    return calls, faults


def audited_calls(memory: Memory) -> list[RunCall]:
    """Return the audit trail as calls, oldest first; an action is taken for its tool."""
    calls = []
    for row in memory.list(category="audit"):
        outcome = str(row.metadata.get("outcome", "")).casefold()
        failed = outcome not in _FINE | _NO_FAILURE
        calls.append(
            RunCall(
                uid=row.id.rpartition(":")[2][:16],
                tool=str(row.metadata.get("action", "")),
                args={} if failed else {"text": row.text},
                failed=_first_line(row.text) if failed else None,
                said=row.text,
                run=str(row.metadata.get("run", "")),
                time=row.timestamp,
            )
        )
    return sorted(calls, key=lambda call: (call.time, call.uid))


def cause_key(cause: str) -> str:
    """Return a cause without what differs from call to call: numbers, ids, quoted values."""
    return " ".join(_VARYING.sub("*", cause.casefold()).split())


def _call(registry: Registry, value: Any, written: datetime) -> RunCall:
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str) or not value["tool"].strip():
        raise ValueError('an object with "tool" is needed, as `olav capture import` reads it.')
    args = value.get("args")
    args = args if isinstance(args, dict) else {} if args is None else {"input": args}
    time = datetime.fromisoformat(value["time"]) if value.get("time") else written
    told = value.get("call") or _canonical(
        {name: value.get(name) for name in ("args", "result", "run", "time")}
    )
    said = value.get("error") or value.get("result")
    return RunCall(
        uid=hashlib.sha256(f"{value['tool']} {told}".encode("utf-8", "replace")).hexdigest()[:16],
        tool=value["tool"].strip(),
        args=registry.redact(args)[0],
        failed=_failure(registry, value),
        said=str(registry.redact(said if isinstance(said, str) else _canonical(said))[0]),
        run=str(value.get("run") or ""),
        time=time if time.tzinfo else time.replace(tzinfo=UTC),
    )


def _failure(registry: Registry, value: Mapping[str, Any]) -> str | None:
    status = str(value.get("status") or "").strip().casefold()
    if status in _NO_FAILURE:
        return None
    failed = bool(value.get("error")) or status not in _FINE
    if not failed:
        failed = any(_judge(spec.succeeded, value) is False for spec in registry.verb_matchers.values())
    if not failed:
        return None
    told = value.get("error") or value.get("result")
    return str(registry.redact(_first_line(_text(told)))[0]) or status


def _judge(succeeded: Any, value: Mapping[str, Any]) -> bool | None:
    """A predicate takes (result) or (result, tool_name)."""
    if succeeded is None:
        return None
    try:
        verdict: bool | None = succeeded(value.get("result"), value["tool"])
    except TypeError:
        verdict = succeeded(value.get("result"))
    return verdict


def _text(told: Any) -> str:
    if isinstance(told, str) and told.lstrip().startswith("{"):
        try:
            told = json.loads(told)
        except (ValueError, RecursionError):
            return str(told)
    if isinstance(told, Mapping):
        named: Iterable[Any] = (told[key] for key in _ERROR_KEYS if told.get(key))
        found = next((item for item in named if item is not True), None)
        return _text(found) if found is not None else _canonical(told)
    return told if isinstance(told, str) else _canonical(told)


def _first_line(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return line if len(line) <= MAX_CAUSE_CHARS else f"{line[:MAX_CAUSE_CHARS]}…"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
