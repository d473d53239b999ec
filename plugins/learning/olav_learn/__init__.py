"""Learning: conventions from events, lessons from failures. The command `olav learn`, and its functions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olav_core import CommandSpec, hookimpl

if TYPE_CHECKING:
    import click

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

#: Public name -> its module. They load when asked for: `olav --help` needs none of the engine.
_HOMES = {
    "PatternItem": "patterns",
    "PatternReport": "patterns",
    "ReflectionReport": "reflections",
    "RunCall": "run_record",
    "audited_calls": "run_record",
    "learn_patterns": "patterns",
    "learn_reflections": "reflections",
    "read_calls": "run_record",
    "resolve": "reflections",
    "supersede": "reflections",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'olav_learn' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"olav_learn.{_HOMES[name]}"), name)
    return value


def _learn() -> click.Command:
    from olav_learn.command import learn

    return learn


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="learn", help="Learn patterns from events, lessons from failures.", load=_learn)]
