"""Category `fact`: stable knowledge, such as addresses, AS numbers and roles."""

from __future__ import annotations

import unicodedata

from attrs import frozen

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl


@frozen(kw_only=True)
class Fact:
    """`subject`: what it is about. `source`: where it was read."""

    subject: str = ""
    source: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    # The text alone: a fact stays the same one when its subject or source is filled in later.
    return " ".join(unicodedata.normalize("NFKC", record.text).split())


def embed_text(record: MemoryRecord) -> str:
    subject = str(record.metadata.get("subject", ""))
    heads = [subject, *record.tags]
    return "\n".join(
        [*dict.fromkeys(head for head in heads if head and head not in record.text), record.text]
    )


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="fact",
            title="Fact",
            purpose="Stable knowledge: who, what, where, which number",
            quota=0,
            cap=3,
            gates=(GateUse("evidence"),),
            metadata=Fact,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
        )
    ]
