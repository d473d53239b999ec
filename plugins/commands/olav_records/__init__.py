"""Records that people keep: decisions of change control, facts, preferences. Commands, tools, CSV files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, ImporterSpec, hookimpl, lazy_names
from olav_records.csv_file import parser

if TYPE_CHECKING:
    import click

    from olav_records.record import keep_decision as keep_decision
    from olav_records.record import keep_fact as keep_fact
    from olav_records.record import keep_preference as keep_preference
    from olav_records.tools import record_tools as record_tools

#: Public name -> its module; they load when asked for.
_HOMES = {
    "keep_decision": "record",
    "keep_fact": "record",
    "keep_preference": "record",
    "record_tools": "tools",
}
__all__ = sorted(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)


def _decision() -> click.Command:
    from olav_records.decision_command import decision

    return decision


def _fact() -> click.Command:
    from olav_records.statement_command import fact

    return fact


def _preference() -> click.Command:
    from olav_records.statement_command import preference

    return preference


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [
        CommandSpec(id="decision", help="Decisions of change control: add, list.", load=_decision),
        CommandSpec(id="fact", help="Facts, also superseded ones: add, list.", load=_fact),
        CommandSpec(id="preference", help="How people want things: add, list.", load=_preference),
    ]


@hookimpl
def olav_register_importers() -> list[ImporterSpec]:
    return [
        ImporterSpec(
            id=f"{category}s",
            purpose=f"A table of {category}s, one a row",
            suffixes=(f".{category}s.csv",),
            parse=parser(category),
            category=category,
        )
        for category in ("decision", "fact", "preference")
    ]
