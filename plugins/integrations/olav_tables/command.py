"""The command `olav describe-table`."""

from __future__ import annotations

from pathlib import Path

import click

import olav_core
from olav_core import FiniteFloat, Terminal, json_option, workspace_option
from olav_tables.describer import TIMEOUT, TableDescriber


@click.command("describe-table")
@click.argument("url")
@click.argument("name", required=False)
@click.option("--timeout", type=FiniteFloat(0, 86_400, min_open=True), default=TIMEOUT, show_default=True,
              help="Seconds for one table.")  # fmt: skip
@click.option("--prime", is_flag=True, help="Store it as memories; needs OLAV_LEGACY_SCHEMA_PRIME=1.")
@click.option("--scope", "-s", help="With --prime: the memories' scope.")
@workspace_option
@json_option
def describe_table(
    url: str,
    name: str | None,
    timeout: float,
    prime: bool,
    scope: str | None,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Show what a table or view holds: columns, keys, row count, commonest values, sample rows.

    URL is duckdb:///FILE, sqlite:///FILE, a path of either, or any SQLAlchemy URL. Without NAME the tables
    are listed. The database is only read; secrets in what is shown are masked.

    With --json: {"table", "kind", "database", "columns": [{"name", "type", "nullable", "default",
    "comment"}], "keys": {"primary", "unique", "foreign": [{"columns", "table", "references"}]}, "rows",
    "sample": [row], "distributions": [{"column", "scanned", "distinct", "nulls", "least", "greatest",
    "values": {value: rows}}], "notes": [text]}; without NAME {"tables": [name]}; with --prime {"stored":
    [id], "unread": {table: why}}, and exit code 1 when a table could not be read: the others are stored.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded():
        describer = TableDescriber(url, timeout=timeout)
        if prime:
            from olav_tables.prime import prime_schema

            with olav_core.open(workspace) as memory, terminal.progress("Reading tables") as on_progress:
                primed = prime_schema(
                    memory, describer, tables=[name] if name else None, scope=scope, on_progress=on_progress
                )
            found = {"stored": list(primed.ids), "unread": dict(primed.unread)}
            terminal.result(found, f"Stored {len(primed.ids)} memor{'y' if len(primed.ids) == 1 else 'ies'}.")
            for table, why in primed.unread.items():
                terminal.note(f"{table} is left out: {why}")
            if primed.unread:
                click.get_current_context().exit(1)
        elif name is None:
            tables = describer.tables()
            terminal.result({"tables": tables}, *(tables or ["No tables."]))
        else:
            table = describer.describe(name)
            terminal.result(table.to_dict(), table.to_text(max_chars=100_000))
