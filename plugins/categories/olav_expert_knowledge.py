"""Category `expert_knowledge`: patterns distilled from many events, and what curators know."""

from __future__ import annotations

import json
import re

from attrs import field, frozen, validators

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl

_WORD_BREAK = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")


@frozen(kw_only=True)
class ExpertKnowledge:
    """`samples`: how many events it was drawn from. `sources`: their ids. `group`: the group of events that
    this row tells of, as one row whatever it says; `history`: what it said before, oldest first."""

    topic: str = ""
    samples: int = field(default=0, validator=validators.ge(0))
    sources: list[str] = field(factory=list)
    group: str = ""
    history: list[str] = field(factory=list)


def dedupe_key(record: MemoryRecord) -> str:
    if record.metadata.get("group"):
        return json.dumps(["group", record.metadata["group"]])
    # Not the topic alone: one extraction writes several findings about one tool.
    return json.dumps([record.metadata.get("topic", ""), " ".join(record.text.split())])


def embed_text(record: MemoryRecord) -> str:
    topic = str(record.metadata.get("topic", ""))
    return "\n".join(filter(None, ["" if topic in record.text else topic, record.text]))


def keywords(record: MemoryRecord) -> list[str]:
    """The words of the tool that the row tells of: a question with them means it before the single events."""
    group = str(record.metadata.get("group", ""))
    words = [word for word in _WORD_BREAK.sub(" ", group).split() if len(word) > 2]
    return list(dict.fromkeys([group, *words])) if group else []


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="expert_knowledge",
            title="Expert knowledge",
            purpose="Conventions and patterns distilled from what worked before",
            origins=frozenset({"agent", "user", "directive", "document"}),
            quota=3,
            cap=3,
            boosts=("keyword_boost",),
            gates=(GateUse("evidence"),),
            metadata=ExpertKnowledge,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            keywords=keywords,
        )
    ]
