"""The table's schema, and the way between records and Arrow.

Besides the columns of a record there are three that nobody is shown:

- `revision`: a random number that every write of content replaces. It names one state of one row, so a
  write can say "only if the row is still as I read it", and vectors can be matched to the text they are of.
- `access_mark`: the version of the recall log up to which `access_count` counts.
- `content_version`: 0, or, when the row's last commit was a fold of access counts, the version of the last
  commit that changed what is recalled. It keeps a fold from looking like news to the recall index.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from olav_core.errors import EmbedderError, EmbeddingDimMismatchError, RecordError
from olav_core.records import MemoryRecord

if TYPE_CHECKING:
    import pyarrow as pa

FINGERPRINT_KEY = b"olav:fingerprint"
SCHEMA_KEY = b"olav:schema"
#: Grows when an older olav-core could not read or keep the table.
SCHEMA_VERSION = 1
PRIMARY_KEY = {b"lance-schema:unenforced-primary-key": b"true"}
HIDDEN = ("access_mark", "content_version", "revision")
#: What a record shows, in table order; the vector stays in the store.
SHOWN = [
    "id",
    "text",
    "search_text",
    "category",
    "scope",
    "metadata",
    "origin",
    "confidence",
    "tags",
    "timestamp",
    "created_at",
    "access_count",
    "expires_at",
]
#: A write with other values in these is another content; the rest are times and counters.
CONTENT = ("text", "search_text", "category", "scope", "metadata", "origin", "confidence", "tags")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def memory_schema(dimension: int, fingerprint_json: str) -> pa.Schema:
    """The schema of table `memory` for vectors float32 [`dimension`] of the given embedding space."""
    import pyarrow as pa

    time = pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False, metadata=PRIMARY_KEY),
            pa.field("text", pa.string()),
            pa.field("search_text", pa.string()),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
            pa.field("category", pa.string()),
            pa.field("scope", pa.string()),
            pa.field("metadata", pa.string()),
            pa.field("origin", pa.string()),
            pa.field("confidence", pa.float64()),
            pa.field("tags", pa.string()),
            pa.field("timestamp", time),
            pa.field("created_at", time),
            pa.field("access_count", pa.int64()),
            pa.field("expires_at", time),
            *(pa.field(name, pa.int64()) for name in HIDDEN),
        ],
        metadata={FINGERPRINT_KEY: fingerprint_json.encode(), SCHEMA_KEY: str(SCHEMA_VERSION).encode()},
    )


def new_revision() -> int:
    """A random positive number of 63 bits."""
    return secrets.randbits(63) | 1


def microseconds(moment: datetime | None) -> int | None:
    """Microseconds since 1970 UTC; a datetime without a zone is taken as UTC."""
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def to_datetime(us: int | None) -> datetime | None:
    """The inverse of `microseconds`."""
    return None if us is None else _EPOCH + us * _MICROSECOND


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, so that equal values are equal strings. Raises ValueError or TypeError."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def encode(record: MemoryRecord) -> dict[str, Any]:
    """Return the record's cells by column name; RecordError names what the engine could not hold."""
    try:
        metadata, tags = canonical_json(dict(record.metadata)), canonical_json(list(record.tags))
        for cell in (
            record.id,
            record.text,
            record.search_text,
            record.category,
            record.scope,
            metadata,
            tags,
        ):
            cell.encode()
    except (TypeError, ValueError, AttributeError) as error:
        raise RecordError(
            f"memory {record.id!r} cannot be stored: {error}. Metadata and tags must be JSON without NaN, "
            "and every text must be a string without lone surrogates (see records.clean_text)."
        ) from error
    return {
        "id": record.id,
        "text": record.text,
        "search_text": record.search_text,
        "category": record.category,
        "scope": record.scope,
        "metadata": metadata,
        "origin": record.origin,
        "confidence": float(record.confidence),
        "tags": tags,
        "timestamp": microseconds(record.timestamp),
        "created_at": microseconds(record.created_at),
        "access_count": int(record.access_count),
        "expires_at": microseconds(record.expires_at),
    }


def decode(table: pa.Table | pa.RecordBatch) -> list[MemoryRecord]:
    """Return the records of a table that has every column of SHOWN, in its order."""
    return [record(row) for row in zip(*(cells(table, name) for name in SHOWN), strict=True)]


def record(row: Sequence[Any]) -> MemoryRecord:
    """Return the record of one row's cells, in the order of SHOWN."""
    (
        id_,
        text,
        search_text,
        category,
        scope,
        metadata,
        origin,
        confidence,
        tags,
        timestamp,
        created_at,
        access_count,
        expires_at,
    ) = row
    return MemoryRecord(
        id=id_,
        text=text,
        category=category,
        scope=scope,
        search_text=search_text,
        metadata=json.loads(metadata) if metadata and metadata != "{}" else {},
        origin=origin,
        confidence=confidence,
        tags=tuple(json.loads(tags)) if tags and tags != "[]" else (),
        timestamp=to_datetime(timestamp),  # type: ignore[arg-type]
        created_at=to_datetime(created_at),  # type: ignore[arg-type]
        access_count=access_count,
        expires_at=to_datetime(expires_at),
    )


def cells(table: pa.Table | pa.RecordBatch, name: str) -> list[Any]:
    """A column as Python values; times as microseconds since 1970 UTC."""
    import pyarrow as pa

    column = table.column(name)
    values: list[Any] = (
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
    ).to_pylist()
    return values


def to_table(columns: Mapping[str, Sequence[Any]], vectors: Any, schema: pa.Schema) -> pa.Table:
    """Build a table of `schema` from cells by column name and vectors float32 [n, d]."""
    import pyarrow as pa

    arrays = []
    for field in schema:
        if field.name == "vector":
            flat = pa.array(vectors.reshape(-1), pa.float32())
            arrays.append(pa.FixedSizeListArray.from_arrays(flat, field.type.list_size))
        elif pa.types.is_timestamp(field.type):
            arrays.append(pa.array(columns[field.name], pa.int64()).cast(field.type))
        else:
            arrays.append(pa.array(columns[field.name], field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def matrix(column: Any) -> Any:
    """A vector column as float32 [n, d]."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # no chunk at all
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), column.type.list_size)


def check_vectors(vectors: Any, ids: Sequence[str], dimension: int, *, store: str) -> Any:
    """Return `vectors` as a contiguous float32 [len(ids), dimension].

    Raises EmbeddingDimMismatchError for another width, EmbedderError for another count, a value that is not
    finite or a zero vector: the engine would take them and never find the rows again.
    """
    import numpy as np

    array = np.ascontiguousarray(vectors, dtype=np.float32)
    if array.ndim == 2 and array.shape[0] == len(ids) and array.shape[1] != dimension:
        raise EmbeddingDimMismatchError(
            f"vectors of {array.shape[1]} dimensions cannot be written to {store}, which holds {dimension}. "
            "Fix `embedder:` in .olav/config.yaml, or move the store with `olav kb reembed --to ID`."
        )
    if array.shape != (len(ids), dimension):
        raise EmbedderError(
            f"the embedder returned an array of shape {array.shape} for {len(ids)} texts, "
            f"expected ({len(ids)}, {dimension}). Fix the embedder plug-in."
        )
    norms = np.sqrt(np.einsum("ij,ij->i", array, array, dtype=np.float64))
    bad = np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))
    if bad.size:
        raise EmbedderError(
            f"the vector of {ids[int(bad[0])]!r} is zero or not finite ({bad.size} of {len(ids)} are); "
            "nothing was written. Fix the embedder plug-in, or leave this text out."
        )
    return array
