"""Category `decision`: what change control decided."""

from __future__ import annotations

import json
from datetime import date

from attrs import Attribute, field, frozen

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl


def _check_date(instance: object, attribute: Attribute[str], value: str) -> None:
    try:
        date.fromisoformat(value or "2000-01-01")
    except ValueError:
        raise ValueError(f"{attribute.name} {value!r} is no date such as 2026-04-15") from None


def _check_devices(instance: object, attribute: Attribute[list[str]], value: list[str]) -> None:
    for name in value:
        if not name.strip() or name != name.strip():
            raise ValueError(
                f"{attribute.name} holds {name!r}: each is a device's name, without blanks around"
            )


def _check_line(instance: object, attribute: Attribute[str], value: str) -> None:
    if value != value.strip() or "\n" in value:
        raise ValueError(f"{attribute.name} {value!r} must be one line without blanks around")


@frozen(kw_only=True)
class Decision:
    """`decided_on`: an ISO date. `why`: the reason. `devices`: what it touches. `recorded_by`: the agent that
    wrote it down; `source`: the file that it came from."""

    decided_on: str = field(default="", validator=_check_date)
    approver: str = field(default="", validator=_check_line)
    ticket: str = field(default="", validator=_check_line)
    why: str = ""
    devices: list[str] = field(factory=list, validator=_check_devices)
    recorded_by: str = ""
    source: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    # A ticket may hold several decisions, and one may be taken back later in the same words.
    data = record.metadata
    return json.dumps([data.get("ticket", ""), data.get("decided_on", ""), " ".join(record.text.split())])


def embed_text(record: MemoryRecord) -> str:
    return "\n".join(
        [
            *_missing(record, ["ticket", "decided_on", "approver"]),
            *_devices(record),
            record.text,
            *_why(record),
        ]
    )


def render(record: MemoryRecord) -> str:
    """The text, with date, ticket and approver in front when it does not name them."""
    heads = _missing(record, ["decided_on", "ticket"])
    heads += [f"approved by {name}" for name in _missing(record, ["approver"])]
    text = "\n".join([record.text, *(f"Why: {reason}" for reason in _why(record))])
    return f"[{', '.join(heads)}] {text}" if heads else text


def _missing(record: MemoryRecord, names: list[str]) -> list[str]:
    values = [str(record.metadata.get(name, "")) for name in names]
    return [value for value in values if value and value not in record.text]


def _devices(record: MemoryRecord) -> list[str]:
    devices = [str(name) for name in record.metadata.get("devices", ()) if str(name) not in record.text]
    return [" ".join(devices)] if devices else []


def _why(record: MemoryRecord) -> list[str]:
    reason = str(record.metadata.get("why", ""))
    return [reason] if reason and reason not in record.text else []


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
