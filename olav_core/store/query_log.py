"""The side tables `query_log` (what was asked, where `recall.log_queries` is on) and `feedback` (thumbs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from attrs import fields, frozen

if TYPE_CHECKING:
    import pyarrow as pa

Verdict = Literal["up", "down"]
VERDICTS: tuple[Verdict, ...] = ("up", "down")


@frozen(kw_only=True)
class LoggedQuery:
    """One query that was asked, redacted. `ts` in epoch seconds, as in its hits of `recall_log`; `query_hash`
    is that of the words before redaction, and tells the hits."""

    ts: float
    query_hash: str
    query: str
    agent: str
    scopes: tuple[str, ...]
    tier: str
    limit: int


@frozen(kw_only=True)
class Feedback:
    """One thumb: what somebody thought of a memory as an answer to a query. `query` is redacted and "" when
    it is not known; `query_hash` tells it all the same where a recall was logged."""

    ts: float
    memory_id: str
    verdict: Verdict
    query: str = ""
    query_hash: str = ""
    agent: str = ""


def query_log_schema() -> pa.Schema:
    """Columns of table `query_log`."""
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            ("ts", pa.timestamp("us", tz="UTC")),
            ("query_hash", text),
            ("query", text),
            ("agent", text),
            ("scopes", pa.list_(text)),
            ("tier", text),
            ("limit", pa.int32()),
        ]
    )


def feedback_schema() -> pa.Schema:
    """Columns of table `feedback`."""
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            ("ts", pa.timestamp("us", tz="UTC")),
            ("memory_id", text),
            ("verdict", text),
            ("query", text),
            ("query_hash", text),
            ("agent", text),
        ]
    )


def to_table(rows: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """Return the rows, values with an attribute per column, as a table of `schema`."""
    import pyarrow as pa

    columns = [[getattr(row, name) for row in rows] for name in schema.names]
    columns[0] = [round(ts * 1_000_000) for ts in columns[0]]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def from_rows(kind: Any, rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the values of `kind` of a table's rows, oldest first; other columns are passed over."""
    names = [attribute.name for attribute in fields(kind)]
    found = []
    for row in rows:
        cells = {name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in names}
        found.append(kind(**{**cells, "ts": row["ts"].timestamp()}))
    return sorted(found, key=lambda value: value.ts)
