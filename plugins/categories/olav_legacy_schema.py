"""Categories `schema_knowledge` and `value_distribution`: deprecated, off unless asked for.

Small models ignore a pushed schema and look it up anyway, so pushing it costs slots and gives nothing;
`describe_table` on demand replaced it. OLAV_LEGACY_SCHEMA_PRIME=1 brings both back, for large models and
parity tests.
"""

from __future__ import annotations

import json
import os
from typing import Any

from attrs import field, frozen, validators

from olav_core import CategorySpec, MemoryRecord, hookimpl

SWITCH = "OLAV_LEGACY_SCHEMA_PRIME"


@frozen(kw_only=True)
class SchemaKnowledge:
    """`columns`: the names of the table's columns."""

    table: str = field(validator=validators.min_len(1))
    columns: list[str] = field(factory=list)
    source: str = ""


@frozen(kw_only=True)
class ValueDistribution:
    """`values`: value -> how many rows hold it."""

    table: str = field(validator=validators.min_len(1))
    column: str = field(validator=validators.min_len(1))
    values: dict[str, Any] = field(factory=dict)
    source: str = ""


def schema_key(record: MemoryRecord) -> str:
    return json.dumps([record.metadata["table"]])


def schema_text(record: MemoryRecord) -> str:
    return "\n".join([record.metadata["table"], " ".join(record.metadata.get("columns", ())), record.text])


def values_key(record: MemoryRecord) -> str:
    return json.dumps([record.metadata["table"], record.metadata["column"]])


def values_text(record: MemoryRecord) -> str:
    data = record.metadata
    return "\n".join([f"{data['table']} {data['column']}", " ".join(data.get("values", {})), record.text])


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    if os.environ.get(SWITCH) != "1":
        return []
    return [
        CategorySpec(
            id="schema_knowledge",
            title="Schema knowledge",
            purpose="Columns and sample rows of a table (deprecated)",
            quota=0,
            cap=2,
            metadata=SchemaKnowledge,
            dedupe_key=schema_key,
            embed_text=schema_text,
        ),
        CategorySpec(
            id="value_distribution",
            title="Value distribution",
            purpose="The values of a column and how often each occurs (deprecated)",
            quota=0,
            cap=2,
            metadata=ValueDistribution,
            dedupe_key=values_key,
            embed_text=values_text,
        ),
    ]
