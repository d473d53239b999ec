"""Category `ticket`: what a customer saw, and what mended it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from attrs import field, frozen, validators

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl

State = Literal["open", "workaround", "solved"]

#: States whose tickets help somebody else; an open one has no answer yet.
HELPFUL = ("solved", "workaround")


@frozen(kw_only=True)
class Ticket:
    """`codes`: error codes, as the product prints them. `source` and `directory` are filled in by the import:
    a ticket whose file is gone is retired by the next one."""

    number: str = field(validator=validators.min_len(1))
    product: str = ""
    state: State = "solved"
    codes: list[str] = field(factory=list)
    source: str = ""
    directory: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    """One ticket, one row: a later telling of it replaces the earlier one."""
    return str(record.metadata["number"])


def embed_text(record: MemoryRecord) -> str:
    """The product's name first: that is how a question begins, too."""
    return "\n".join(filter(None, [str(record.metadata.get("product", "")), record.text]))


def render(record: MemoryRecord) -> str:
    head = " ".join(filter(None, [record.metadata["number"], str(record.metadata.get("product", ""))]))
    note = " (a workaround, not a fix)" if record.metadata.get("state") == "workaround" else ""
    return f"[{head}] {record.text}{note}"


def keywords(record: MemoryRecord) -> Sequence[str]:
    return [*record.metadata.get("codes", ()), *filter(None, [record.metadata.get("product", "")])]


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="ticket",
            title="Ticket",
            purpose="Support tickets: what a customer saw, and what mended it",
            origins=frozenset({"document", "agent", "user"}),
            quota=1,
            cap=2,
            gates=(GateUse("ticket_state", {"states": HELPFUL}),),
            boosts=("keyword_boost",),
            ttl=timedelta(days=365),
            metadata=Ticket,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            render=render,
            keywords=keywords,
        )
    ]
