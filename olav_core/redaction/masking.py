"""A stored memory as today's writer would store it: masked, and known by what is left of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve

from olav_core.errors import RecordError
from olav_core.records import MemoryRecord, check_scope, check_tags, check_text, memory_id
from olav_core.succession import indexed

if TYPE_CHECKING:
    from olav_core.host.registry import Registry
    from olav_core.specs import CategorySpec, Finding


def masked(
    record: MemoryRecord, registry: Registry, categories: Mapping[str, CategorySpec]
) -> tuple[MemoryRecord, dict[str, int]]:
    """Return the record without the secrets that the redactors find, and their number by kind.

    What changed has the id that the same memory gets when it is written today, and the search text that its
    category makes of it; a category that is not installed, or that fails, leaves the id as it was. Raises
    PluginError when a redactor fails.
    """
    text, texts = registry.redact(record.text)
    metadata, members = registry.redact(dict(record.metadata))
    tags, words = registry.redact(list(record.tags))
    search_text, searched = registry.redact(record.search_text)
    kinds: dict[str, int] = {}
    for finding in _counted(texts, members, words, searched):
        kinds[finding.kind] = kinds.get(finding.kind, 0) + finding.count
    clean = evolve(record, text=text, metadata=metadata, tags=tuple(tags), search_text=search_text)
    if clean == record:
        return record, {}
    spec = categories.get(record.category)
    return (clean if spec is None else _as_written(clean, spec)), kinds


def looks_secret(scope: str, registry: Registry) -> bool:
    """Return whether a scope spells a secret: it is not masked, another scope is another place."""
    try:
        check_scope(scope)
    except RecordError:
        return False
    return bool(registry.redact(scope)[0] != scope)


def _counted(texts: Any, members: Any, words: Any, searched: Any) -> tuple[Finding, ...]:
    """What was found, without what the search text only repeats."""
    found = (*texts, *members, *words)
    return found or tuple(searched)


def _as_written(clean: MemoryRecord, spec: CategorySpec) -> MemoryRecord:
    try:
        clean = evolve(clean, tags=check_tags(clean.tags))
        search_text = check_text(spec.embed_text(clean), what="search text")
        key = spec.dedupe_key(clean)
        row_id = memory_id(spec.id, None if spec.global_scope else clean.scope, key)
    except Exception:  # a row of an older release of the category: what is masked stays masked
        return clean
    return indexed(evolve(clean, search_text=search_text, id=row_id), spec)
