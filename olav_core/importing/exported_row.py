"""One line of an export: a memory as JSON, whole, so that nothing is lost on the way back."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import fields_dict

from olav_core.errors import RecordError, did_you_mean
from olav_core.records import ORIGINS, MemoryRecord, check_scope, check_tags, check_text, clean_text
from olav_core.writer import as_time

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray

#: Grows when an older olav-core could not read the file.
FORMAT = 1
#: The first line holds this key; the last one END, so that a file cut short is told.
HEADER, END = "olav_export", "olav_export_end"
VECTOR = "vector"
_FIELDS = frozenset(fields_dict(MemoryRecord)) | {VECTOR}
_TIMES = ("timestamp", "created_at", "expires_at")


def to_line(record: MemoryRecord, vector: FloatArray | None = None) -> str:
    """Return the line of a row; the vector as base64 of little-endian float32."""
    values: dict[str, Any] = {name: getattr(record, name) for name in fields_dict(MemoryRecord)}
    values |= {"metadata": dict(record.metadata), "tags": list(record.tags)}
    for name in _TIMES:
        moment: datetime | None = values[name]
        values[name] = moment.isoformat() if moment is not None else None
    if vector is not None:
        values[VECTOR] = base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def from_object(value: Mapping[str, Any]) -> tuple[MemoryRecord, FloatArray | None]:
    """Return (record, vector) or raise RecordError for what no export holds."""
    for name in value:
        if name not in _FIELDS:
            raise RecordError(f"unknown field {name!r}.{did_you_mean(name, _FIELDS)}")
    category, identifier = value.get("category"), value.get("id")
    if not isinstance(category, str) or not category or category != clean_text(category):
        raise RecordError("field 'category' must name a category.")
    if not isinstance(identifier, str) or not identifier.startswith(f"{category}:"):
        raise RecordError(f"field 'id' must begin with '{category}:'. Leave it out to import a new memory.")
    metadata, origin = value.get("metadata", {}), value.get("origin", "user")
    if not isinstance(metadata, dict):
        raise RecordError("field 'metadata' must be an object.")
    if origin not in ORIGINS:
        raise RecordError(f"origin {origin!r} is none.{did_you_mean(str(origin), ORIGINS)}")
    text = check_text(value.get("text"))
    search_text = value.get("search_text") or text
    times = {name: as_time(value.get(name), name) for name in _TIMES}
    if times["timestamp"] is None or times["created_at"] is None:
        raise RecordError("fields 'timestamp' and 'created_at' are needed beside an 'id'.")
    record = MemoryRecord(
        id=check_text(identifier, what="id"),
        text=text,
        category=category,
        scope=check_scope(value.get("scope")),
        search_text=check_text(search_text, what="search_text"),
        metadata=metadata,
        origin=origin,
        confidence=_number(value.get("confidence", 1.0), "confidence", 1.0),
        tags=check_tags(value.get("tags", [])),
        access_count=int(_number(value.get("access_count", 0), "access_count", 2**62)),
        **times,  # type: ignore[arg-type]
    )
    return record, _vector(value.get(VECTOR))


def _number(value: Any, name: str, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise RecordError(f"field {name!r} must be a number from 0 to {most:g}, not {value!r}.")
    return value


def _vector(value: Any) -> FloatArray | None:
    import numpy as np

    if value is None:
        return None
    try:
        vector = np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
    except (ValueError, TypeError) as error:
        raise RecordError(f"field 'vector' is not base64 of float32 numbers: {error}.") from None
    norm = float(np.linalg.norm(vector.astype(np.float64))) if vector.size else 0.0
    if not np.isfinite(norm) or norm == 0:
        raise RecordError("field 'vector' is empty, zero or not finite.")
    return vector
