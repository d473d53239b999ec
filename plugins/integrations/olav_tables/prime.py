"""Push mode, deprecated: a database's tables as memories. Only under OLAV_LEGACY_SCHEMA_PRIME=1."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from olav_core import Draft, Memory, OlavError
from olav_tables.database import TableError
from olav_tables.describer import TableDescriber
from olav_tables.description import TableDescription

SCHEMA, VALUES = "schema_knowledge", "value_distribution"
SWITCH = "OLAV_LEGACY_SCHEMA_PRIME"


@frozen
class Primed:
    """`ids` of the rows; `unread`: tables that are left out, and why."""

    ids: tuple[str, ...]
    unread: Mapping[str, str]


def prime_schema(
    memory: Memory,
    describer: TableDescriber,
    *,
    tables: list[str] | None = None,
    scope: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Primed:
    """Store a row for each table and for each column with few values. A table that cannot be read, such as a
    view of a column that is gone, is told in the answer, and the others are stored.

    Raises OlavError when the switch is off (agents ask for a table better than they read a pushed one), and
    TableError for a database that cannot be opened.
    """
    if SCHEMA not in memory.categories:
        raise OlavError(
            f"schemas are not pushed any more: set {SWITCH}=1 to bring that back, or give the agent "
            "the tool describe_table."
        )
    drafts: list[tuple[str, Draft]] = []
    unread: dict[str, str] = {}
    names = describer.tables() if tables is None else tables
    for done, name in enumerate(names, start=1):
        try:
            drafts += [(name, draft) for draft in _drafts(describer.describe(name), scope)]
        except TableError as error:
            unread[name] = str(error)
        if on_progress is not None:
            on_progress(done, len(names))
    outcomes = memory.remember_many([draft for _, draft in drafts])
    for (name, _), outcome in zip(drafts, outcomes, strict=True):
        if outcome.error is not None:
            unread[name] = str(outcome.error)
    return Primed(tuple(outcome.id for outcome in outcomes if outcome.error is None), unread)


def _drafts(found: TableDescription, scope: str | None) -> list[Draft]:
    table, columns = found.table, [column.name for column in found.columns]
    drafts = [
        Draft(
            text=found.to_text(),
            category=SCHEMA,
            scope=scope,
            metadata={"table": table, "columns": columns, "source": found.database},
            origin="document",
        )
    ]
    drafts += [
        Draft(
            text=f"{table}.{part.column}: " + ", ".join(f"{v} ({n})" for v, n in part.values.items()),
            category=VALUES,
            scope=scope,
            metadata={
                "table": table, "column": part.column, "values": part.values, "source": found.database
            },
            origin="document",
        )
        for part in found.distributions
        if part.values
    ]  # fmt: skip
    return drafts
