"""Learning: conventions from events, lessons from failures. The command `olav learn`, and its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl
from olav_learn.patterns import PatternItem as PatternItem
from olav_learn.patterns import PatternReport as PatternReport
from olav_learn.patterns import learn_patterns as learn_patterns

if TYPE_CHECKING:
    import click


def _learn() -> click.Command:
    from olav_learn.command import learn

    return learn


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="learn", help="Learn patterns from events, lessons from failures.", load=_learn)]
