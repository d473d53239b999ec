"""Options that many commands share."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

F = TypeVar("F", bound=Callable[..., Any])
_KEY = "olav.workspace"


def _nearest(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Return the command's own --workspace, else the one given before the command, else OLAV_WORKSPACE."""
    given = ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    meta = ctx.find_root().meta
    if given:
        meta[_KEY] = value
    chosen: Path | None = meta.get(_KEY, value)
    return chosen


def named_workspace(ctx: click.Context) -> Path | None:
    """Return what `--workspace` named so far on this command line, before or after the command."""
    named: Path | None = ctx.find_root().meta.get(_KEY)
    return named


def workspace_option(function: F) -> F:
    """Add `--workspace DIR`; the command gets `workspace`, a Path or None (the nearest one upwards)."""
    return click.option(
        "--workspace",
        "-w",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="OLAV_WORKSPACE",
        metavar="DIR",
        callback=_nearest,
        help="Workspace directory; default: OLAV_WORKSPACE, else the nearest .olav upwards.",
    )(function)


class FiniteFloat(click.FloatRange):
    """A number that can be reckoned with: neither nan nor infinite, nor above `max`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


def stdin_text() -> str:
    """Return all of stdin as text; bytes that are not UTF-8 become U+FFFD."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return sys.stdin.read()


def json_option(function: F) -> F:
    """Add `--json`; the command gets `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")(function)


def _pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for item in values:
        key, equals, raw = item.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"{item!r} is not KEY=VALUE.", ctx, param)
        try:
            out[key] = json.loads(raw)
        except ValueError:
            out[key] = raw
    return out


def embedder_options(function: F) -> F:
    """Add repeatable `--option KEY=VALUE`; the command gets `options`, values read as JSON, else as text."""
    return click.option(
        "--option",
        "options",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_pairs,
        help="Option of the embedder, e.g. path=./model; repeatable.",
    )(function)
