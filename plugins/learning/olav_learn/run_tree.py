"""Tool calls of LangChain tracers: run trees, nested or one run a line, and events of `astream_events`."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from olav_learn.message_record import message_of, text_of

#: Longer texts are no arguments that a lesson could name, and not worth parsing.
MAX_ARGS_CHARS: Final = 50_000


def run_of(value: Any) -> Any:
    """Return a tracer's Run object as a mapping with its children; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    if isinstance(value, Mapping) or not callable(dump) or not hasattr(value, "run_type"):
        return value
    return {**dump(), "child_runs": [run_of(child) for child in getattr(value, "child_runs", None) or ()]}


def is_run(value: Any) -> bool:
    return isinstance(value, Mapping) and "run_type" in value


def is_event(value: Any) -> bool:
    return isinstance(value, Mapping) and str(value.get("event", "")).startswith("on_") and "run_id" in value


def calls_of_run(run: Mapping[str, Any], trace: str = "") -> Iterator[dict[str, Any]]:
    """Yield the tool calls of a run and of its children, in the order of their time."""
    trace = str(run.get("trace_id") or trace or run.get("id") or "")
    if run.get("run_type") == "tool":
        outputs = run.get("outputs")
        output = outputs.get("output", outputs) if isinstance(outputs, Mapping) else outputs
        time = run.get("end_time") or run.get("start_time")
        yield _call(run.get("name"), run.get("inputs"), output, run.get("error"), run.get("id"), trace, time)
    children = [child for child in run.get("child_runs") or () if isinstance(child, Mapping)]
    for child in sorted(children, key=lambda child: str(child.get("start_time") or "")):
        yield from calls_of_run(child, trace)


def calls_of_event(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the call that a tool's last event tells of; other events tell of none."""
    if event.get("event") not in ("on_tool_end", "on_tool_error"):
        return
    data = event.get("data") or {}
    error = data.get("error") or ("failed" if event["event"] == "on_tool_error" else None)
    run = str((event.get("parent_ids") or [""])[0])
    yield _call(event.get("name"), data.get("input"), data.get("output"), error, event["run_id"], run, None)


def _call(name: Any, inputs: Any, output: Any, error: Any, id: Any, run: str, time: Any) -> dict[str, Any]:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"the name of its tool is {name!r:.40}, no text.")
    message = message_of(output)
    status = ""
    if message is not None:  # a ToolMessage
        status = "error" if message.get("status") == "error" else ""
        output = text_of(message.get("content"))
    return {
        "tool": name,
        "args": _args(inputs),
        "result": output,
        "error": str(error) if error else None,
        "status": status,
        "run": run,
        "call": str(id or ""),
        "time": str(time) if time else None,
    }


def _args(inputs: Any) -> Any:
    """Return a tool's arguments; tracers hold them as a mapping or, below `input`, as their Python text."""
    if isinstance(inputs, Mapping) and set(inputs) == {"input"}:
        inputs = inputs["input"]
    if not isinstance(inputs, str) or len(inputs) > MAX_ARGS_CHARS:
        return inputs
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(inputs)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, dict):
            return value
    return inputs
