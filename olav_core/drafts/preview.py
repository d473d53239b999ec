"""What a person is shown of a draft: YAML that reads back to the same values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from olav_core.drafts.draft import MemoryDraft

#: Of a long list (the ids that a pattern rests on) so many are shown; the draft's hash covers all of them.
SHOWN_ITEMS: Final = 8


def preview_of(draft: MemoryDraft) -> str:
    """Return what the person is shown: the file itself where it says more than the body, else the body and
    where it goes."""
    if draft.rows:
        why = {"reason": draft.reason} if draft.reason else {}
        return to_yaml({"intent": draft.intent, "proposed_by": draft.proposer, **why,
                        "memories": [_shown(row) for row in draft.rows]})  # fmt: skip
    if draft.content != draft.body:
        return draft.content
    return to_yaml(
        {
            "intent": draft.intent,
            "agent": draft.agent,
            "scope": draft.scope,
            "category": draft.category,
            "file": draft.path,
            "body": draft.body,
        }
    )


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    empty: tuple[Any, ...] = (None, "", [], {}, ())
    kept = {name: value for name, value in row.items() if value not in empty}
    if "metadata" in kept:
        values = {name: value for name, value in kept["metadata"].items() if value not in empty}
        kept["metadata"] = {
            name: [*value[:SHOWN_ITEMS], f"… and {len(value) - SHOWN_ITEMS} more"]
            if isinstance(value, list) and len(value) > SHOWN_ITEMS
            else value
            for name, value in values.items()
        }
    return kept


def to_yaml(values: Mapping[str, Any]) -> str:
    """Return readable YAML, several lines as a block, which reads back to the same values."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    made: str = yaml.dump(dict(values), Dumper=Dumper, allow_unicode=True, sort_keys=False, width=100)
    return made
