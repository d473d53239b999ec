"""`olav remember` and `olav forget`: one memory in, one memory out."""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import asdict

from olav_core.cli.options import json_option, stdin_text, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal
from olav_core.records import GLOBAL_SCOPE, ORIGINS

if TYPE_CHECKING:
    from olav_core.memory import Memory


def _object(ctx: click.Context, param: click.Parameter, raw: str | None) -> dict[str, Any] | None:
    if raw is None:
        return None
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}", ctx, param) from None
    if not isinstance(value, dict):
        raise click.BadParameter('a JSON object is needed, like \'{"source": "wiki"}\'.', ctx, param)
    return value


@click.command()
@click.argument("text")
@click.option("--category", "-c", default="fact", show_default=True, metavar="ID", help="Kind of memory.")
@click.option("--scope", "-s", help="global, an agent's name, or team:ID; default: the category's.")
@click.option("--tag", "tags", multiple=True, help="A tag; repeatable.")
@click.option("--metadata", metavar="JSON", callback=_object, help="A JSON object, checked by the category.")
@click.option("--origin", type=click.Choice(ORIGINS), default="user", show_default=True, help="Who says so.")
@click.option("--revive", is_flag=True, help="Store it although it was forgotten.")
@workspace_option
@json_option
def remember(
    text: str,
    category: str,
    scope: str | None,
    tags: tuple[str, ...],
    metadata: dict[str, Any] | None,
    origin: str,
    revive: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Store a memory; the same one twice is one row.

    TEXT `-` reads the text from stdin.

    A fact or preference that contradicts an earlier one supersedes it: the earlier is kept, not injected, and
    `olav kb reinstate` undoes it. A person's word stands against what an agent or a document says.

    With --json: {"id", "created", "conflicts": [{"id", "text", "topic", "ours", "theirs", "outcome"}]};
    "created" is false when the memory was known already, "outcome" is "superseded" (that one is out of force
    now) or "stands" (the new one is).
    """
    terminal = Terminal(as_json=as_json)
    if text == "-":
        text = stdin_text()
    with open_memory(workspace, terminal) as memory:
        done = memory.remember(
            text,
            category=category,
            scope=scope,
            origin=origin,
            metadata=metadata,
            tags=tags,
            revive=revive,
        )
        _say_if_new(memory, done.id, scope, terminal)
    if as_json:
        conflicts = [asdict(conflict) for conflict in done.conflicts]
        terminal.result({"id": done.id, "created": done.created, "conflicts": conflicts})
        return
    from rich.text import Text

    from olav_core.cli.view import conflict_lines

    said = ("Remembered ", "green") if done.created else ("Known already: ", "yellow")
    terminal.print(Text.assemble(said, (done.id, "cyan")), *conflict_lines(done.conflicts))


def _say_if_new(memory: Memory, identifier: str, scope: str | None, terminal: Terminal) -> None:
    """Scopes are free text, so a slip of the pen is a new scope: say so, and name what it may have meant."""
    if scope is None or memory.get(identifier).scope != scope:
        return
    known = {name for _, name in memory.store.counts()} - {scope} | {GLOBAL_SCOPE, *memory.settings.agents}
    if scope in known or memory.store.count(scope=scope) != 1:
        return
    near = get_close_matches(scope, sorted(known), n=1, cutoff=0.7)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    terminal.note(
        f"{scope!r} is a new scope: only an agent of this name, or in this team, recalls it.{meant}"
    )


@click.command()
@click.argument("identifier", metavar="ID")
@click.option(
    "--purge", is_flag=True, help="Also rewrite old versions on disk, so that no file holds the text."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@workspace_option
@json_option
def forget(identifier: str, purge: bool, yes: bool, workspace: Path | None, as_json: bool) -> None:
    """Erase a memory and keep it from coming back by capture or import.

    ID may be the unique beginning of one.

    With --json (needs --yes): {"id", "purged"}.
    """
    terminal = Terminal(as_json=as_json)
    if as_json and not yes:
        raise click.UsageError("--json cannot ask; add --yes to forget for certain.")
    with open_memory(workspace, terminal) as memory:
        record = memory.get(identifier)
        if not yes:
            from olav_core.cli.view import record_view

            terminal.print(*record_view(record))
            click.confirm("Forget this memory?", abort=True, err=True)
        done = memory.forget(record.id, purge=purge)
    if as_json:
        terminal.result({"id": done, "purged": purge})
        return
    from rich.text import Text

    where = (
        "from the store and its old versions" if purge else "; old versions keep it until `olav kb optimize`"
    )
    terminal.print(Text.assemble(("Forgot ", "green"), (done, "cyan"), f" {where}" if purge else where))
