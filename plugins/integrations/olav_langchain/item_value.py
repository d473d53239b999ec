"""An item's value, text and times, between LangGraph's items and rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import PutOp

from olav_core import MemoryRecord, RecordError
from olav_langchain.namespace import namespace_of

#: The fields whose text stands for an item, the first that is a string; else the value's JSON does.
TEXT_FIELDS = ("content", "text", "memory")


def json_value(op: PutOp) -> dict[str, Any]:
    """Return the value as JSON holds it; raises RecordError for one that is not JSON."""
    try:
        value: dict[str, Any] = json.loads(json.dumps(op.value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise RecordError(
            f"item {op.key!r} in {op.namespace} is not JSON: {error}. Put strings, numbers, lists, mappings."
        ) from error
    return value


def text_of(value: Mapping[str, Any]) -> str:
    """Return the text that stands for a value: shown, embedded and searched."""
    named = next((value[name] for name in TEXT_FIELDS if isinstance(value.get(name), str)), "")
    return named if named.strip() else json.dumps(value, ensure_ascii=False)


def item_parts(record: MemoryRecord) -> dict[str, Any]:
    """Return the arguments of the Item that a row is."""
    return {
        "namespace": namespace_of(record.scope),
        "key": record.metadata["key"],
        "value": dict(record.metadata["value"]),
        "created_at": record.created_at,
        "updated_at": record.timestamp,
    }


def end_of(ttl: float) -> datetime:
    """Return when a life of `ttl` minutes that begins now ends."""
    return datetime.now(UTC) + timedelta(minutes=ttl)


def is_expired(record: MemoryRecord) -> bool:
    """Tell whether a row's life is over; such rows stay until maintenance."""
    return record.expires_at is not None and record.expires_at <= datetime.now(UTC)
