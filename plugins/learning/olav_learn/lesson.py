"""What failures teach without a model: a value that worked instead, or a call that only ever fails."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from olav_core import language_of
from olav_learn.run_record import RunCall, cause_key

#: More changed arguments are another call, not a corrected one.
MAX_CHANGES: Final = 3
MAX_VALUE_CHARS: Final = 80
#: Failures with one cause that are a rule rather than an accident.
MIN_FAILURES: Final = 2


@frozen(kw_only=True)
class Lesson:
    """One constraint, with the failures that it rests on."""

    tool: str
    cause: str
    text: str
    trigger: str
    failures: tuple[RunCall, ...]
    corrected: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.tool, cause_key(self.cause)


def lessons(calls: Sequence[RunCall]) -> list[Lesson]:
    """Return the lessons of calls in their order, one per tool and cause.

    A failure that the same call did not meet again later was an accident and teaches nothing.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for i, call in enumerate(calls):
        if call.failed:
            groups.setdefault((call.tool, cause_key(call.failed)), []).append(i)
    found = []
    for (tool, _), places in groups.items():
        failures = [calls[i] for i in places if not _went_through_later(calls, i)]
        if not failures:
            continue
        corrections = [change for i in places if (change := _correction(calls, i))]
        change = min(corrections, key=len) if corrections else None
        if change is None and len(failures) < MIN_FAILURES:
            continue
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
            )
        )
    return found


def _went_through_later(calls: Sequence[RunCall], place: int) -> bool:
    failed = calls[place]
    return any(
        other.tool == failed.tool and not other.failed and other.args_key == failed.args_key
        for other in calls[place + 1 :]
    )


def _correction(calls: Sequence[RunCall], place: int) -> dict[str, tuple[Any, Any]] | None:
    """Return {argument: (what failed, what worked)} of the next success of the tool in the same run."""
    failed = calls[place]
    if not failed.run:
        return None
    for other in calls[place + 1 :]:
        if other.run == failed.run and other.tool == failed.tool and not other.failed:
            names = sorted(set(failed.args) | set(other.args))
            change = {
                name: (failed.args.get(name), other.args.get(name))
                for name in names
                if failed.args.get(name) != other.args.get(name)
            }
            fits = all(len(_value(value)) <= MAX_VALUE_CHARS for pair in change.values() for value in pair)
            return change if 0 < len(change) <= MAX_CHANGES and fits else None
    return None


def _shared(failures: Sequence[RunCall]) -> dict[str, Any]:
    """Return the arguments that all failures have in common, short ones only."""
    first, *others = failures
    return {
        name: value
        for name, value in first.args.items()
        if len(_value(value)) <= MAX_VALUE_CHARS and all(call.args.get(name) == value for call in others)
    }


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
