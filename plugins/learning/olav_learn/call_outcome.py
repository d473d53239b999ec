"""Whether a told call failed, and its cause in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from olav_core import Registry
from olav_learn.run_call import canonical

#: Statuses that frameworks give a call that went through; anything else that is given is a failure.
FINE: Final = frozenset(("", "success", "succeeded", "ok", "done", "complete", "completed", "finished"))
#: A person said no, or nobody answered: that teaches nothing about the tool.
NO_FAILURE: Final = frozenset(("denied", "rejected", "interrupted", "cancelled", "canceled", "skipped"))
MAX_CAUSE_CHARS: Final = 160
_ERROR_KEYS: Final = ("error", "message", "detail", "stderr", "reason", "错误", "消息", "原因")
#: As Python, LangGraph and LangChain's tracer write an exception: ValueError('no such VLAN').
_EXCEPTION = re.compile(r"(?:Error: )?(?P<kind>\w+)\((?P<quote>['\"])(?P<said>.+)(?P=quote),?\)\Z", re.DOTALL)
#: What LangGraph puts before the error of a tool: its arguments, which are no cause.
_PREFACE = re.compile(r"Error (?:executing|invoking) tool .* with error:\Z")


def failure_of(registry: Registry, value: Mapping[str, Any]) -> str | None:
    """Return the cause of a call's failure, redacted, one line; None when it went through.

    `value` holds status, error and result; where they do not tell, the capture's predicates judge the result.
    """
    status = _status(value)
    failed = bool(value.get("error")) or status not in FINE
    if not failed:
        failed = any(_judge(spec.succeeded, value) is False for spec in registry.verb_matchers.values())
    if not failed:
        return None
    told = value.get("error") or value.get("result")
    return first_line(str(registry.redact(_text(told))[0])) or status


def was_stopped(value: Mapping[str, Any]) -> bool:
    """Whether a person stopped the call: it neither failed nor went through."""
    return _status(value) in NO_FAILURE


def first_line(text: str) -> str:
    """Return what a person would read first: the last line of a traceback, else the first line."""
    # LangChain's tracer writes the traceback right behind the exception.
    head, found, _ = text.partition("Traceback (most recent call last)")
    lines = [" ".join(line.split()) for line in (head if head.strip() else text).splitlines() if line.strip()]
    if not lines:
        return ""
    line = lines[-1] if found and not head.strip() else lines[0]
    if len(lines) > 1 and line.endswith((":", "：")):
        line = lines[1] if _PREFACE.match(line) else f"{line} {lines[1]}"
    if exception := _EXCEPTION.match(line):
        line = f"{exception['kind']}: {exception['said']}"
    return line if len(line) <= MAX_CAUSE_CHARS else f"{line[:MAX_CAUSE_CHARS]}…"


def _status(value: Mapping[str, Any]) -> str:
    return str(value.get("status") or "").strip().casefold()


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
        return _text(found) if found is not None else canonical(told)
    return told if isinstance(told, str) else canonical(told)
