"""Category `operational_event`: a write-class tool call that succeeded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attrs import field, frozen, validators

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl

#: What a model needs of a precedent is its arguments; a longer result is data to query again.
MAX_ARGS_CHARS = 800
MAX_RESULT_CHARS = 400
#: Enough for an embedder's window; the rest of a result adds noise, not meaning.
MAX_EMBED_CHARS = 2_000


@frozen(kw_only=True)
class OperationalEvent:
    """`args` and `result` are redacted JSON. `count`: how often this operation was seen; `calls`: ids of the
    latest calls that were counted. `run`: the run that it was last seen in."""

    tool: str = field(validator=validators.min_len(1))
    action: str = ""
    args: dict[str, Any] = field(factory=dict)
    result: Any = None
    verb: str = ""
    agent: str = ""
    run: str = ""
    count: int = field(default=1, validator=validators.ge(1))
    calls: list[str] = field(factory=list)


def dedupe_key(record: MemoryRecord) -> str:
    # The result is left out: its timestamps and request ids differ while the operation is the same.
    return json.dumps([record.metadata["tool"], record.metadata.get("args", {})], sort_keys=True)


def embed_text(record: MemoryRecord) -> str:
    """Tool as words, then `name value` lines of its arguments, then its result."""
    tool = str(record.metadata["tool"])
    words = tool.replace("_", " ").replace("-", " ").replace(".", " ")
    head = tool if words == tool else f"{tool} {words}"
    action = str(record.metadata.get("action", ""))
    lines = [head, "" if action in head else action, *_leaves(record.metadata.get("args", {}), "")]
    lines.append(_compact(record.metadata.get("result")))
    text = "\n".join(filter(None, lines))
    return text[:MAX_EMBED_CHARS]


def render(record: MemoryRecord) -> str:
    data = record.metadata
    lines = [f"Action: {data.get('action') or data['tool']}"]
    if data.get("args"):
        lines.append(f"Args: {_clip(_compact(data['args']), MAX_ARGS_CHARS)}")
    if data.get("result") not in (None, ""):
        lines.append(f"Result: {_clip(_compact(data['result']), MAX_RESULT_CHARS)}")
    if len(lines) == 1:  # written by hand: the text is all there is
        return record.text
    if data.get("count", 1) > 1:
        lines.append(f"Seen {data['count']} times")
    return "\n".join(lines)


def _compact(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def _leaves(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    elif value not in (None, ""):
        yield f"{name} {_compact(value)}"


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="operational_event",
            title="Operational event",
            purpose="A tool call that changed something and succeeded: the precedent for the next one",
            origins=frozenset({"agent", "audit", "user"}),
            quota=0,
            cap=2,
            gates=(GateUse("evidence"),),
            metadata=OperationalEvent,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            render=render,
        )
    ]
