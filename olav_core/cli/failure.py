"""How `olav` fails: one message on stderr, or one JSON object on stdout, and an exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from olav_core.cli import answer
from olav_core.errors import ImportFaultsError, OlavError

OK, FAILED, USAGE, BUSY, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 75, 130, 141

#: The last lines of `olav --help` and of docs/cli.md.
EXIT_CODES = {
    OK: "done",
    FAILED: "an error, a file with faults, or a faulty plug-in",
    USAGE: "wrong usage: unknown command, option or value",
    BUSY: "another run of the command works in the workspace: try again later",
    INTERRUPTED: "interrupted (Ctrl-C)",
    CLOSED_PIPE: "the reader of stdout closed it early",
}


def wants_json(args: Sequence[str]) -> bool:
    """Tell whether the command line asked for JSON, even when it could not be parsed."""
    options = args[: args.index("--")] if "--" in args else args
    return "--json" in options


def error_object(error: BaseException) -> dict[str, Any]:
    """Return the `--json` form of an error: `{"error": {"type", "message"}}`, with `faults` of an import."""
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    out: dict[str, Any] = {"type": type(error).__name__, "message": message}
    if isinstance(error, ImportFaultsError):
        out["faults"] = [fault_object(fault) for fault in error.faults]
    return {"error": out}


def fault_object(fault: Any) -> dict[str, Any]:
    """Return the `--json` form of a Fault: path, line (0: the whole file), message."""
    return {"path": fault.path, "line": fault.line, "message": fault.message}


def report(error: BaseException, *, as_json: bool) -> int:
    """Write the error where it belongs and return the exit code."""
    if as_json:
        from olav_core.cli.terminal import to_json

        as_json = answer.give(to_json(error_object(error)))  # else it came after the answer
    if isinstance(error, click.ClickException):
        if not as_json:
            error.show()
        return error.exit_code
    if not as_json:
        click.secho(f"Error: {error}", fg="red", err=True)
    return FAILED


@contextmanager
def quiet_ends() -> Iterator[None]:
    """Turn a closed pipe into a quiet exit, and flush here, where that can still be caught."""
    try:
        yield
        answer.stream().flush()
    except BrokenPipeError:
        # The interpreter flushes stdout once more at its end: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), answer.stream().fileno())
        raise click.exceptions.Exit(CLOSED_PIPE) from None


#: What a command may raise on purpose, or because of the machine: reported without a traceback.
EXPECTED = (OlavError, OSError, click.ClickException)
