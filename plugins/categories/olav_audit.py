"""Category `audit`: who did what and when; append-only, never injected by itself."""

from __future__ import annotations

import json
from typing import Any

from attrs import field, frozen, validators

from olav_core import CategorySpec, MemoryRecord, hookimpl


@frozen(kw_only=True)
class Audit:
    """`action`: what was done, for a tool call the tool's name, which is `tool` too. `outcome`: such as
    `success`, `error` or `denied`. `run`: id of the agent run; `call`: of the call in it. `args`: redacted
    and cut short. `error`: what went wrong. `seconds`: how long it took."""

    user: str = field(validator=validators.min_len(1))
    action: str = field(validator=validators.min_len(1))
    outcome: str = ""
    run: str = ""
    agent: str = ""
    tool: str = ""
    args: dict[str, Any] = field(factory=dict)
    error: str = ""
    call: str = ""
    seconds: float | None = None


def dedupe_key(record: MemoryRecord) -> str:
    data = record.metadata
    if data.get("call"):  # a call that is told twice, by two hooks or two processes, is one act
        return json.dumps(["call", data.get("run", ""), data["call"], data["action"]])
    # The time is part of it: the same act a second later is another row, a replayed write is the same one.
    return json.dumps([record.timestamp.isoformat(), data.get("run", ""), record.text])


def embed_text(record: MemoryRecord) -> str:
    data = record.metadata
    heads = [str(data.get(name, "")) for name in ("user", "action", "outcome")]
    return "\n".join([*(head for head in heads if head and head not in record.text), record.text])


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="audit",
            title="Audit",
            purpose="Compliance record: who did what, and when",
            origins=frozenset({"audit"}),
            quota=0,
            cap=0,
            metadata=Audit,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            recallable=False,
            append_only=True,
        )
    ]
