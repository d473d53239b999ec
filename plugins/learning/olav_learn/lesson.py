"""What failures teach without a model: a value that worked instead, or a call that only ever fails."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from olav_core import language_of
from olav_learn.call_history import CallHistory
from olav_learn.run_call import RunCall

#: More changed arguments are another call, not a corrected one.
MAX_CHANGES: Final = 3
MAX_VALUE_CHARS: Final = 80
#: Calls of the same run that are shown behind a failure.
MAX_AFTER: Final = 3
#: Arguments that a text names; more make no rule.
MAX_SHARED: Final = 5
#: Failures with one cause that are a rule rather than an accident.
MIN_FAILURES: Final = 2


@frozen(kw_only=True)
class Lesson:
    """One constraint, with the failures that it rests on. `corrected`: it says what worked instead.
    `settled`: the calls themselves show it; else it is one failure that only a known lesson or a chat model
    makes something of. `after`: what the run did next."""

    tool: str
    cause: str
    text: str
    trigger: str
    failures: tuple[RunCall, ...]
    corrected: bool = False
    settled: bool = True
    after: tuple[RunCall, ...] = ()


def lessons(calls: Sequence[RunCall]) -> list[Lesson]:
    """Return the lessons of calls in their order, one per tool and cause.

    A failure that the same call did not meet again later was an accident and teaches nothing.
    """
    history = CallHistory(calls)
    found = []
    for (tool, _), places in history.failures.items():
        failures = [calls[i] for i in places if not history.went_through_later(i)]
        if not failures:
            continue
        corrections = [change for i in places if (change := _correction(calls[i], history.after(i)))]
        change = min(corrections, key=len) if corrections else None
        cause = str(failures[-1].failed)
        shared = _shared(failures)
        found.append(
            Lesson(
                tool=tool,
                cause=cause,
                text=_text(tool, cause, shared, change),
                trigger=f"{tool} {tool.replace('_', ' ').replace('.', ' ')}: {_values(shared)}".rstrip(": "),
                failures=tuple(failures),
                corrected=change is not None,
                settled=change is not None or len(failures) >= MIN_FAILURES,
                after=tuple(history.after(places[-1])[:MAX_AFTER]),
            )
        )
    return found


def _correction(failed: RunCall, after: Sequence[RunCall]) -> dict[str, tuple[Any, Any]] | None:
    """Return {argument: (what failed, what worked)} of the next success of the tool in the same run."""
    worked = next((c for c in after if c.tool == failed.tool and not c.failed and c.args is not None), None)
    if worked is None or failed.args is None or worked.args is None:
        return None
    change = {
        name: (failed.args.get(name), worked.args.get(name))
        for name in sorted(set(failed.args) | set(worked.args))
        if failed.args.get(name) != worked.args.get(name)
    }
    fits = all(len(_value(value)) <= MAX_VALUE_CHARS for pair in change.values() for value in pair)
    return change if 0 < len(change) <= MAX_CHANGES and fits else None


def _shared(failures: Sequence[RunCall]) -> dict[str, Any]:
    """Return the arguments that all failures have in common, short ones only."""
    first, *others = failures
    shared = {
        name: value
        for name, value in (first.args or {}).items()
        if len(_value(value)) <= MAX_VALUE_CHARS and all((c.args or {}).get(name) == value for c in others)
    }
    return dict(list(shared.items())[:MAX_SHARED])


def _text(
    tool: str, cause: str, shared: Mapping[str, Any], change: Mapping[str, tuple[Any, Any]] | None
) -> str:
    chinese = language_of(cause) == "zh"
    if change is not None:
        right = _values({name: pair[1] for name, pair in change.items() if pair[1] is not None})
        wrong = _values({name: pair[0] for name, pair in change.items() if pair[0] is not None})
        left_out = ", ".join(name for name, pair in change.items() if pair[1] is None)
        if chinese:
            do = "，".join(filter(None, [right and f"使用 {right}", left_out and f"不要传 {left_out}"]))
            instead = f"，不要使用 {wrong}" if wrong and right else ""
            return f"调用 {tool} 时，{do}{instead}，因为后者失败：{cause}"
        do = " and ".join(filter(None, [right and f"use {right}", left_out and f"leave out {left_out}"]))
        instead = f" instead of {wrong}" if wrong and right else ""
        return f"When you call {tool}, {do}{instead}, because the other failed: {cause}"
    values = _values(shared)
    if chinese:
        given = f"（{values}）" if values else ""
        return f"调用 {tool}{given} 时，不要原样重试，因为多次失败：{cause}"
    given = f" with {values}" if values else ""
    return f"When you call {tool}{given}, don't repeat it as it is, because it keeps failing: {cause}"


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in sorted(values.items()))


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
