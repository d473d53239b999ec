"""Category `preference`: how a person wants things."""

from __future__ import annotations

import json

from attrs import frozen

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl


@frozen(kw_only=True)
class Preference:
    """`user`: whose it is. `subject`: what it is about."""

    user: str = ""
    subject: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    # The subject is left out: two wishes about one subject may both hold.
    return json.dumps([record.metadata.get("user", ""), " ".join(record.text.split())])


def embed_text(record: MemoryRecord) -> str:
    heads = [str(record.metadata.get(name, "")) for name in ("user", "subject")]
    return "\n".join([*(head for head in heads if head and head not in record.text), record.text])


def render(record: MemoryRecord) -> str:
    user = str(record.metadata.get("user", ""))
    return record.text if not user or user in record.text else f"{user}: {record.text}"


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="preference",
            title="Preference",
            purpose="How a person wants things to be done or shown",
            origins=frozenset({"user", "agent", "directive"}),
            quota=0,
            cap=2,
            gates=(GateUse("evidence"),),
            metadata=Preference,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            render=render,
        )
    ]
