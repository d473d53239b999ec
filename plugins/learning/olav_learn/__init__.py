"""Learning: conventions from events, lessons from failures. The command `olav learn`, and its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl
from olav_learn.patterns import PatternItem as PatternItem
from olav_learn.patterns import PatternReport as PatternReport
from olav_learn.patterns import learn_patterns as learn_patterns
from olav_learn.reflections import ReflectionReport as ReflectionReport
from olav_learn.reflections import learn_reflections as learn_reflections
from olav_learn.reflections import resolve as resolve
from olav_learn.reflections import supersede as supersede
from olav_learn.run_record import RunCall as RunCall
from olav_learn.run_record import audited_calls as audited_calls
from olav_learn.run_record import read_calls as read_calls

if TYPE_CHECKING:
    import click


def _learn() -> click.Command:
    from olav_learn.command import learn

    return learn


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="learn", help="Learn patterns from events, lessons from failures.", load=_learn)]
