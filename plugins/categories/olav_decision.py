"""Category `decision`: what change control decided."""

from __future__ import annotations

import json

from attrs import field, frozen

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl


@frozen(kw_only=True)
class Decision:
    """`decided_on`: an ISO date. `devices`: what it touches."""

    decided_on: str = ""
    approver: str = ""
    ticket: str = ""
    devices: list[str] = field(factory=list)


def dedupe_key(record: MemoryRecord) -> str:
    # A ticket may hold several decisions, and one may be taken back later in the same words.
    data = record.metadata
    return json.dumps([data.get("ticket", ""), data.get("decided_on", ""), " ".join(record.text.split())])


def embed_text(record: MemoryRecord) -> str:
    return "\n".join(
        [*_missing(record, ["ticket", "decided_on", "approver"]), *_devices(record), record.text]
    )


def render(record: MemoryRecord) -> str:
    """The text, with date, ticket and approver in front when it does not name them."""
    heads = _missing(record, ["decided_on", "ticket"])
    heads += [f"approved by {name}" for name in _missing(record, ["approver"])]
    return f"[{', '.join(heads)}] {record.text}" if heads else record.text


def _missing(record: MemoryRecord, names: list[str]) -> list[str]:
    values = [str(record.metadata.get(name, "")) for name in names]
    return [value for value in values if value and value not in record.text]


def _devices(record: MemoryRecord) -> list[str]:
    devices = [str(name) for name in record.metadata.get("devices", ()) if str(name) not in record.text]
    return [" ".join(devices)] if devices else []


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="decision",
            title="Decision",
            purpose="Who approved what, and when",
            origins=frozenset({"audit", "user", "directive", "document"}),
            quota=0,
            cap=2,
            gates=(GateUse("evidence"),),
            metadata=Decision,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            render=render,
        )
    ]
