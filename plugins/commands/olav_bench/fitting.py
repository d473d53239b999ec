"""Fitting a suite's memories to the installed categories: data from elsewhere knows nothing of their
metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from attrs import NOTHING, evolve, fields, has

from olav_core import CategorySpec, Draft, Suite

#: A longer text is no name of anything: such a field gets the memory's id.
NAME_CHARS = 200


def fitted(suite: Suite, categories: Mapping[str, CategorySpec]) -> tuple[Suite, list[str]]:
    """Return the suite with memories that their categories take, and a sentence for each kind of change.

    A needed text of the metadata that is missing becomes the memory's text (its id where that is no name), an
    unknown field is left out, and an origin that may not write the category becomes one that may. A known
    field with a wrong value is left as it is: that is a fault, and refused.
    """
    changes: Counter[str] = Counter()
    memories = {
        key: _fitted(key, draft, categories[draft.category], changes)
        if draft.category in categories
        else draft
        for key, draft in suite.memories.items()
    }
    notes = [f"{change} ({count} memories)" for change, count in sorted(changes.items())]
    return evolve(suite, memories=memories), notes


def _fitted(key: str, draft: Draft, spec: CategorySpec, changes: Counter[str]) -> Draft:
    if draft.origin not in spec.origins:
        origin = "user" if "user" in spec.origins else min(spec.origins)
        changes[f"{spec.id}: origin {draft.origin!r} may not write it, {origin!r} was taken"] += 1
        draft = evolve(draft, origin=origin)
    if spec.metadata is None or not has(spec.metadata):
        return draft
    known = {attribute.name: attribute for attribute in fields(spec.metadata) if attribute.init}
    metadata: dict[str, Any] = {name: value for name, value in draft.metadata.items() if name in known}
    for name in sorted(set(draft.metadata) - set(metadata)):
        changes[f"{spec.id}: it has no metadata {name!r}, which was left out"] += 1
    for name, attribute in known.items():
        if attribute.default is NOTHING and name not in metadata and attribute.type in (str, "str"):
            changes[f"{spec.id}: its metadata {name!r} was missing and was filled in"] += 1
            metadata[name] = draft.text if _is_name(draft.text) else key
    return draft if metadata == draft.metadata else evolve(draft, metadata=metadata)


def _is_name(text: str) -> bool:
    return (
        len(text) <= NAME_CHARS and text == text.strip() and text.isprintable() and not set("/\\") & set(text)
    )
