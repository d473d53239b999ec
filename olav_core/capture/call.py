"""A tool call as a host tells it, made an event: plain data, redacted, bounded."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from olav_core import clock
from olav_core.capture import payload
from olav_core.capture.event import Event
from olav_core.capture.volatile import lasting_args
from olav_core.errors import RecordError
from olav_core.records import clean_text
from olav_core.writer import as_time

if TYPE_CHECKING:
    from olav_core.host.registry import Registry
    from olav_core.specs import Finding

MAX_NAME_CHARS: Final = 256


@frozen(kw_only=True)
class Call:
    """A finished tool call. `args` and `result` may be of any shape; `call`: its own id, "" for none."""

    tool: str
    args: Any = None
    result: Any = None
    agent: str
    scope: str
    run: str = ""
    call: str = ""
    time: Any = None

    def event(self, verb: str, registry: Registry) -> tuple[Event, tuple[Finding, ...]]:
        """Return the event and what was masked; raises PluginError (a redactor failed) and RecordError."""
        when = as_time(self.time, "time") or clock.now()
        names = {"tool": self.tool, "agent": _name(self.agent), "run": _name(self.run)}
        given = payload.readable({"args": arguments(self.args), "result": plain_result(self.result)})
        redacted, findings = registry.redact({**given, **names})
        event = Event(
            uid=self._uid(),
            tool=redacted["tool"][:MAX_NAME_CHARS],
            verb=verb,
            args=lasting_args(payload.kept(redacted["args"]), when),
            result=payload.kept(redacted["result"]),
            agent=redacted["agent"][:MAX_NAME_CHARS],
            scope=registry.public_scope(self.scope),
            run=redacted["run"][:MAX_NAME_CHARS],
            time=when,
        )
        return event, findings

    def _uid(self) -> str:
        """A call that names itself has one id however often it is told; any other is a new one."""
        if not self.call:
            return secrets.token_hex(8)
        parts = f"{len(self.run)}:{self.run}:{len(self.call)}:{self.call}:{self.tool}"
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def tool_name(tool: object) -> str:
    """Return the name of a tool as it is stored or raise RecordError."""
    if not isinstance(tool, str) or not clean_text(tool).strip():
        raise RecordError(f"tool must be the tool's name, not {tool!r}.")
    return clean_text(tool).strip()


def arguments(args: Any) -> Any:
    """Return arguments as a mapping: JSON in a string is read, what is no mapping becomes its `input`."""
    if args is None:
        return {}
    if isinstance(args, str):
        held = _json(args)
        if isinstance(held, dict):
            return held
        return {"input": args} if args.strip() else {}
    plain = payload.readable(args)
    return plain if isinstance(plain, dict) else {"input": plain}


def plain_result(result: Any) -> Any:
    """Return a result as data: a message's content, the text of content blocks, the JSON in a string."""
    if not isinstance(result, (str, list, tuple, dict)) and hasattr(result, "content"):
        result = result.content
    if isinstance(result, (list, tuple)) and result and all(map(_is_block, result)):
        texts = [item["text"] for item in result if isinstance(item.get("text"), str)]
        others = len(result) - len(texts)
        result = "\n".join([*texts, *([f"({others} blocks without text)"] if others else [])])
    if isinstance(result, str):
        held = _json(result)
        return result if held is None else held
    return result


def _is_block(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("type"), str) and ("text" in item or len(item) <= 4)


def _json(text: str) -> Any:
    if len(text) > payload.READ_TOTAL or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _name(value: object) -> str:
    return clean_text(str(value or ""))
