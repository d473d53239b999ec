"""Category `fact`: stable knowledge, such as addresses, AS numbers and roles."""

from __future__ import annotations

import unicodedata

from attrs import frozen

from olav_core import CategorySpec, GateUse, MemoryRecord, Succession, claim_of, hookimpl


@frozen(kw_only=True)
class Fact(Succession):
    """`subject`: what it is about; `attribute`: what of it, such as `loopback`; `value`: what that is. Two
    facts of one scope with one subject and attribute and different values contradict. `source`: where it
    was read."""

    subject: str = ""
    attribute: str = ""
    value: str = ""
    source: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    # The text alone: a fact stays the same one when its subject or source is filled in later.
    return _plain(record.text)


def embed_text(record: MemoryRecord) -> str:
    heads = [*(str(record.metadata.get(name, "")) for name in ("subject", "attribute")), *record.tags]
    return "\n".join(
        [*dict.fromkeys(head for head in heads if head and head not in record.text), record.text]
    )


def claims(record: MemoryRecord) -> dict[str, str]:
    """The subject's attribute where both are given, and what the sentence says by itself."""
    subject, attribute, value = (
        _plain(str(record.metadata.get(name, ""))).casefold() for name in ("subject", "attribute", "value")
    )
    said = claim_of(record.text)
    found = {} if said is None else {said.topic: said.value}
    if subject and attribute:
        # Never what the rules read from the sentence: of "runs NX-OS 9.3(8)" that is no more than "is so".
        found[f"{subject} · {attribute}"] = value or _plain(record.text).casefold()
    return found


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="fact",
            title="Fact",
            purpose="Stable knowledge: who, what, where, which number",
            quota=0,
            cap=3,
            gates=(GateUse("current"), GateUse("evidence")),
            metadata=Fact,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            claims=claims,
        )
    ]
