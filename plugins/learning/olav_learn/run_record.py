"""Records of past runs: JSON lines, LangChain's messages, run trees and events, as files or as values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from olav_core import Fault, Memory, Registry, WorkspaceError, clock
from olav_learn.call_outcome import failure_of, was_stopped
from olav_learn.message_record import calls_of_messages, is_messages
from olav_learn.run_call import RunCall, canonical, digest
from olav_learn.run_tree import calls_of_event, calls_of_run, is_event, is_run, run_of

#: What values of unexpected types raise.
BROKEN = (ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError)
#: Where states, checkpoints and outputs of LangGraph keep what holds the messages.
_INSIDE = ("values", "channel_values", "checkpoint", "output", "outputs", "state", "result")


def read_calls(memory: Memory, path: Path) -> tuple[list[RunCall], list[Fault]]:
    """Return the calls of a file in its order, and its faulty lines.

    It is JSON or JSON lines, each value one of: a call as `olav capture import` reads it (tool, args, result,
    status, run, call, time; and `error`); messages, alone or in a LangGraph state; a run of a LangChain
    tracer, nested or flat; an event of `astream_events`. A call without a time happened when the file was
    written.
    """
    try:
        raw = path.read_bytes()
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    if not raw.strip():
        return [], [Fault(str(path), 0, "it is empty.")]
    try:
        values = [(1, json.loads(raw))]
        faults: list[Fault] = []
    except (ValueError, RecursionError):
        values, faults = _lines(path, raw)
    calls: list[RunCall] = []
    for number, value in values:
        try:
            calls += _read(memory.registry, value, written, len(calls))
        except BROKEN as error:
            faults.append(Fault(str(path), number, f"{error}"))
    return calls, faults


def calls_of(memory: Memory, record: Any) -> list[RunCall]:
    """Return the calls of one record: a finished agent's state or messages, a tracer's run, as LangChain has
    them or as JSON. Raises ValueError when it is none."""
    try:
        return _read(memory.registry, record, clock.now(), 0)
    except BROKEN as error:
        raise ValueError(f"The record cannot be read: {error}") from error


def _read(registry: Registry, record: Any, now: datetime, place: int) -> list[RunCall]:
    """All calls of a record, or none when one of them cannot be read."""
    told = [call for call in _told(record) if not was_stopped(call)]
    return [_call(registry, call, now, place + i) for i, call in enumerate(told)]


def _lines(path: Path, raw: bytes) -> tuple[list[tuple[int, Any]], list[Fault]]:
    values, faults = [], []
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values.append((number, json.loads(line)))
        except (ValueError, RecursionError) as error:
            faults.append(Fault(str(path), number, f"{error}"))
    return values, faults


def _told(value: Any, run: str = "") -> Iterator[dict[str, Any]]:
    value = run_of(value)
    if is_run(value):
        yield from calls_of_run(value)
    elif is_event(value):
        yield from calls_of_event(value)
    elif isinstance(value, Mapping) and isinstance(value.get("tool"), str) and value["tool"].strip():
        yield dict(value)
    elif isinstance(value, Mapping) and isinstance(value.get("messages"), Sequence):
        run = _run_of(value) or run
        if value["messages"] and not is_messages(value["messages"]):
            raise ValueError("its messages are none that LangChain or OpenAI write.")
        yield from calls_of_messages(value["messages"], run)
    elif is_messages(value):
        yield from calls_of_messages(value, run)
    elif isinstance(value, (list, tuple)) and value:
        for item in value:
            yield from _told(item, run)
    elif (inside := _inside(value)) is not None:
        yield from _told(inside, _run_of(value) or run)
    else:
        raise ValueError(
            'an object with "tool" is needed, as `olav capture import` reads it, or messages, or a run of '
            "LangChain."
        )


def _inside(value: Any) -> Mapping[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    return next((value[name] for name in _INSIDE if isinstance(value.get(name), Mapping)), None)


def _run_of(value: Mapping[str, Any]) -> str:
    config = value.get("config")
    inside = config.get("configurable") if isinstance(config, Mapping) else None
    places = [value, inside if isinstance(inside, Mapping) else {}]
    names = ("run_id", "run", "thread_id", "checkpoint_id")
    return next((str(place[name]) for place in places for name in names if place.get(name)), "")


def _call(registry: Registry, value: Mapping[str, Any], written: datetime, place: int) -> RunCall:
    args = value.get("args")
    args = args if isinstance(args, dict) else {} if args is None else {"input": args}
    # One after the other, in their order, when nothing tells when.
    then = written + timedelta(microseconds=place)
    time = datetime.fromisoformat(value["time"]) if value.get("time") else then
    names = ("args", "result", "run", "time")
    told = value.get("call") or canonical({name: value.get(name) for name in names})
    said = value.get("error") or value.get("result")
    return RunCall(
        uid=digest(f"{value['tool']} {told}")[:16],
        tool=value["tool"].strip(),
        args=registry.redact(args)[0],
        failed=failure_of(registry, value),
        said=str(registry.redact(said if isinstance(said, str) else canonical(said))[0]),
        run=str(value.get("run") or ""),
        time=time if time.tzinfo else time.replace(tzinfo=UTC),
    )
