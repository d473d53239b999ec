"""describe_table: what a table of a database holds, asked for when it is needed. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl, lazy_names

if TYPE_CHECKING:
    import click

    from olav_tables.describer import TableDescriber as TableDescriber
    from olav_tables.description import TableDescription as TableDescription
    from olav_tables.prime import prime_schema as prime_schema
    from olav_tables.schema import TABLE_SCHEMA as TABLE_SCHEMA
    from olav_tables.tool import describe_table_tool as describe_table_tool

#: Public name -> its module; they load when asked for.
_HOMES = {
    "TABLE_SCHEMA": "schema",
    "TableDescriber": "describer",
    "TableDescription": "description",
    "describe_table_tool": "tool",
    "prime_schema": "prime",
}
__all__ = sorted(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)


def _command() -> click.Command:
    from olav_tables.command import describe_table

    return describe_table


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [
        CommandSpec(
            id="describe-table", help="Show what a table of a database holds; read-only.", load=_command
        )
    ]
