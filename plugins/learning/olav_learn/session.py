"""What the commands of `olav learn` share: the workspace opened, and alone in it where they write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import olav_core
from olav_core import Memory, Terminal
from olav_learn import single_flight as flight

FAILED = 1
#: sysexits.h: nothing is wrong, try again later. A timer may count it as success.
BUSY = 75


class LearnerBusyError(click.ClickException):
    """Another learner works here; its exit code is one of its own."""

    exit_code = BUSY


@contextmanager
def session(terminal: Terminal, workspace: Path | None, *, alone: bool = True) -> Iterator[Memory]:
    """Open the workspace of a command; `alone`, under the lock of learning. Exit code 75 when it is taken."""
    with terminal.guarded(), olav_core.open(workspace) as memory:
        if not alone:
            yield memory
            return
        try:
            with flight.single_flight(memory):
                yield memory
        except flight.LearnerBusyError as error:
            raise LearnerBusyError(str(error)) from error
