"""`olav hooks`: the reference of the plug-in contract, from the docstrings."""

from __future__ import annotations

import inspect
from typing import Any

import click

from olav_core.cli.options import json_option
from olav_core.cli.terminal import Terminal
from olav_core.errors import UnknownIdError, did_you_mean


def describe_hooks() -> list[dict[str, str]]:
    """Return every hook as name, signature, summary (first paragraph, one line) and doc (whole)."""
    from olav_core import hookspecs
    from olav_core.host.hook_reference import hooks as documented

    return [
        {
            "name": hook.name,
            "signature": hook.signature.removeprefix("def ").removesuffix(": ..."),
            "summary": hook.purpose,
            "doc": inspect.getdoc(getattr(hookspecs, hook.name)) or "",
        }
        for hook in documented()
    ]


@click.command()
@click.argument("name", required=False)
@json_option
def hooks(name: str | None, as_json: bool) -> None:
    """Show the hooks a plug-in may implement, or one of them whole.

    With --json: {"hooks": [{"name", "signature", "summary", "doc"}]}.
    """
    terminal = Terminal(as_json=as_json)
    known = describe_hooks()
    if name is not None:
        chosen = [hook for hook in known if hook["name"] in (name, f"olav_{name}")]
        if not chosen:
            raise UnknownIdError(
                f"There is no hook {name!r}.{did_you_mean(name, (h['name'] for h in known))}"
            )
        terminal.result({"hooks": chosen}, *_whole(chosen[0]))
    else:
        terminal.result({"hooks": known}, *_table(known))


def _whole(hook: dict[str, str]) -> list[Any]:
    from rich.text import Text

    return [Text(hook["signature"], style="bold cyan"), Text(), Text(hook["doc"])]


def _table(known: list[dict[str, str]]) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 1, 0), header_style="bold")
    table.add_column("hook")
    table.add_column("what it is for")
    for hook in known:
        table.add_row(Text(hook["signature"], style="cyan"), hook["summary"])
    return [table, Text("`olav hooks NAME` shows one whole, with an example.", style="dim")]
