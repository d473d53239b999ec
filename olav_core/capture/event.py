"""One captured call: as it waits in the spool, and as the memory it becomes."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from attrs import frozen

from olav_core.errors import RecordError
from olav_core.specs import Draft

CATEGORY: Final = "operational_event"
#: Of the text that people read and that is hashed when the event is erased; whole values only.
TEXT_ARGS_CHARS: Final = 2_000
TEXT_RESULT_CHARS: Final = 1_000
#: Ids of calls that a row remembers, so that a call that is told twice is counted once.
REMEMBERED_CALLS: Final = 128


@frozen(kw_only=True)
class Event:
    """A redacted call. `uid` is the same whenever the same call is told again; `time` is when it happened."""

    uid: str
    tool: str
    verb: str
    args: dict[str, Any]
    result: Any
    agent: str
    scope: str
    run: str
    time: datetime

    def to_line(self) -> bytes:
        """Return the event as one line of JSON, newline included."""
        data = {
            "v": 1,
            "uid": self.uid,
            "tool": self.tool,
            "verb": self.verb,
            "args": self.args,
            "result": self.result,
            "agent": self.agent,
            "scope": self.scope,
            "run": self.run,
            "time": self.time.isoformat(),
        }
        # ASCII: a line of a torn write is then never cut inside a character.
        return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Event:
        """Return the event of a line; raises RecordError for what is none."""
        try:
            data = json.loads(line)
            return cls(
                uid=data["uid"],
                tool=data["tool"],
                verb=data["verb"],
                args=data["args"],
                result=data["result"],
                agent=data["agent"],
                scope=data["scope"],
                run=data["run"],
                time=datetime.fromisoformat(data["time"]),
            )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RecordError(f"a line of the spool is no event ({type(error).__name__}: {error}).") from None

    def metadata(self, *, result: Any, count: int, calls: list[str]) -> dict[str, Any]:
        """Return the metadata of the row that tells this operation `count` times."""
        return {
            "tool": self.tool,
            "verb": self.verb,
            "args": self.args,
            "result": result,
            "agent": self.agent,
            "run": self.run,
            "count": count,
            "calls": calls[-REMEMBERED_CALLS:],
        }

    def draft(self, *, result: Any, count: int, calls: list[str], time: datetime) -> Draft:
        """Return the memory that tells this operation `count` times, last at `time`."""
        return Draft(
            text=event_text(self.tool, self.args, result),
            category=CATEGORY,
            scope=self.scope,
            origin="agent",
            metadata=self.metadata(result=result, count=count, calls=calls),
            tags=(self.verb,),
            timestamp=time,
        )


def event_text(tool: str, args: dict[str, Any], result: Any) -> str:
    """Return `Action / Args / Result`, one line each, values whole or left out."""
    lines = [f"Action: {tool}"]
    if args:
        lines.append(f"Args: {_whole(args, TEXT_ARGS_CHARS)}")
    if result not in (None, "", [], {}):
        lines.append(f"Result: {_whole(result, TEXT_RESULT_CHARS)}")
    return "\n".join(lines)


def _whole(value: Any, limit: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= limit:
        return text
    if isinstance(value, str):
        return f"{text[:limit]}… ({len(text)} characters)"
    parts: list[str] = []
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    for n, (key, item) in enumerate(pairs):
        shown = json.dumps(item, ensure_ascii=False)
        if len(shown) > limit // 2:
            shown = f"… ({len(shown)} characters)"
        part = shown if key is None else f"{json.dumps(key, ensure_ascii=False)}: {shown}"
        if sum(map(len, parts)) + len(part) > limit:
            parts.append(f"… {len(value) - n} more")
            break
        parts.append(part)
    body = ", ".join(parts)
    return f"{{{body}}}" if isinstance(value, dict) else f"[{body}]"
