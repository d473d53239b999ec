"""Category `preference`: how a person wants things."""

from __future__ import annotations

import json

from attrs import frozen

from olav_core import CategorySpec, GateUse, MemoryRecord, Succession, claim_of, hookimpl


@frozen(kw_only=True)
class Preference(Succession):
    """`user`: whose it is. `subject`: what it is about; `attribute`: what of it, such as `language`, where
    only one wish can hold at a time, and `value` what that is."""

    user: str = ""
    subject: str = ""
    attribute: str = ""
    value: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    # The subject is left out: two wishes about one subject may both hold.
    return json.dumps([record.metadata.get("user", ""), " ".join(record.text.split())])


def embed_text(record: MemoryRecord) -> str:
    heads = [str(record.metadata.get(name, "")) for name in ("user", "subject")]
    return "\n".join([*(head for head in heads if head and head not in record.text), record.text])


def render(record: MemoryRecord) -> str:
    user = str(record.metadata.get("user", ""))
    return record.text if not user or user in record.text else f"{user}: {record.text}"


def claims(record: MemoryRecord) -> dict[str, str]:
    """As of a fact, each user's for itself."""
    user, subject, attribute, value = (
        " ".join(str(record.metadata.get(name, "")).split()).casefold()
        for name in ("user", "subject", "attribute", "value")
    )
    said = claim_of(record.text)
    found = {} if said is None else {f"{user}: {said.topic}": said.value}
    if subject and attribute:
        found[f"{user}: {subject} · {attribute}"] = value or " ".join(record.text.split()).casefold()
    return found


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="preference",
            title="Preference",
            purpose="How a person wants things to be done or shown",
            origins=frozenset({"user", "agent", "directive", "document"}),
            quota=0,
            cap=2,
            gates=(GateUse("current"), GateUse("evidence")),
            metadata=Preference,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            render=render,
            claims=claims,
        )
    ]
