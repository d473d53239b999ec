"""Where a command writes: its result on stdout, everything else on stderr."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from olav_core.cli import answer

if TYPE_CHECKING:
    from rich.console import Console

#: Columns when the output is no terminal and COLUMNS is not set: tables stay readable in files and pipes.
PIPED_WIDTH = 120


class Terminal:
    """The two streams of one command. With `as_json`, stdout carries exactly one JSON object.

    Commands of plug-ins use it too: `from olav_core import Terminal`.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    @cached_property
    def out(self) -> Console:
        """The rich console on stdout: no colour, fixed width when stdout is not a terminal."""
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        """The rich console on stderr."""
        return _console(stderr=True)

    def result(self, value: Any, *renderables: Any) -> None:
        """Write the command's result: `value` as JSON, or the renderables for a person."""
        if self.as_json:
            answer.give(to_json(value))
        else:
            self.print(*renderables)

    def print(self, *renderables: Any) -> None:
        """Write to stdout for a person; nothing under `--json`. Lines of a string are left whole."""
        if not self.as_json:
            for renderable in renderables:
                self.out.print(renderable, soft_wrap=isinstance(renderable, str))

    def note(self, message: str, *, style: str = "yellow") -> None:
        """Write one message to stderr: a warning, a hint, a fault."""
        self.err.print(message, style=style, soft_wrap=True)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Under `--json`, send what anything else prints meanwhile (a plug-in, a library) to stderr."""
        with answer.kept_alone() if self.as_json and answer.stream() is sys.stdout else nullcontext():
            yield

    @contextmanager
    def progress(self, description: str) -> Iterator[Callable[[int, int], None]]:
        """Give an `on_progress(done, total)` that draws a bar on stderr; silent when that is no terminal."""
        if not sys.stderr.isatty():
            yield lambda done, total: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = Progress(*columns, console=self.err, transient=True)
        task = bar.add_task(description, total=None)

        def step(done: int, total: int) -> None:
            # Started late: a model's own first-use line comes before the bar, not through it.
            bar.start()
            bar.update(task, completed=done, total=total)

        try:
            yield step
        finally:
            bar.stop()


def to_json(value: Any) -> str:
    """Return indented JSON that stdout can encode: readable UTF-8 where possible, else ASCII escapes.

    JSON has no NaN and no infinity: they become the strings "nan", "inf" and "-inf"."""
    value = _finite(value)
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str, allow_nan=False)
    try:
        text.encode(answer.stream().encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=2, default=str, allow_nan=False)
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(float(value))
    if isinstance(value, dict):
        return {
            str(float(key)) if isinstance(key, float) else key: _finite(member)
            for key, member in value.items()
        }
    return [_finite(member) for member in value] if isinstance(value, (list, tuple)) else value


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            raise  # rich would exit with code 1: the command line has its own code for this

    stream = sys.stderr if stderr else sys.stdout
    piped = not stream.isatty() and not os.environ.get("COLUMNS", "").strip("0").isdecimal()
    return Pipe(
        stderr=stderr, width=PIPED_WIDTH if piped else None, markup=False, highlight=False, emoji=False
    )
