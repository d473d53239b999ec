"""Learning: conventions from events, lessons from failures. The command `olav learn`, and its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl, lazy_names

if TYPE_CHECKING:
    import click

    from olav_learn.audit_trail import audited_calls as audited_calls
    from olav_learn.captured_calls import captured_calls as captured_calls
    from olav_learn.learning_run import LearningRun as LearningRun
    from olav_learn.learning_run import run_learning as run_learning
    from olav_learn.pattern_report import PatternItem as PatternItem
    from olav_learn.pattern_report import PatternReport as PatternReport
    from olav_learn.patterns import learn_patterns as learn_patterns
    from olav_learn.reflection_report import ReflectionItem as ReflectionItem
    from olav_learn.reflection_report import ReflectionReport as ReflectionReport
    from olav_learn.reflection_row import resolve as resolve
    from olav_learn.reflection_row import supersede as supersede
    from olav_learn.reflections import learn_reflections as learn_reflections
    from olav_learn.run_call import RunCall as RunCall
    from olav_learn.run_record import calls_of as calls_of
    from olav_learn.run_record import read_calls as read_calls
    from olav_learn.single_flight import LearnerBusyError as LearnerBusyError
    from olav_learn.status import learning_status as learning_status
    from olav_learn.tools import learning_tools as learning_tools

#: Public name -> its module. They load when asked for: `olav --help` needs none of the engine.
_HOMES = {
    "LearnerBusyError": "single_flight",
    "LearningRun": "learning_run",
    "PatternItem": "pattern_report",
    "PatternReport": "pattern_report",
    "ReflectionItem": "reflection_report",
    "ReflectionReport": "reflection_report",
    "RunCall": "run_call",
    "audited_calls": "audit_trail",
    "calls_of": "run_record",
    "captured_calls": "captured_calls",
    "learn_patterns": "patterns",
    "learn_reflections": "reflections",
    "learning_status": "status",
    "learning_tools": "tools",
    "read_calls": "run_record",
    "resolve": "reflection_row",
    "run_learning": "learning_run",
    "supersede": "reflection_row",
}
__all__ = sorted(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES)


def _learn() -> click.Command:
    from olav_learn.command import learn

    return learn


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="learn", help="Learn patterns from events, lessons from failures.", load=_learn)]
