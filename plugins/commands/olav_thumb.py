"""The command `olav thumb`: what a person thinks of a memory as an answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from olav_core import CommandSpec, hookimpl

if TYPE_CHECKING:
    import click


def _command() -> click.Command:
    import click

    import olav_core
    from olav_core import Terminal, json_option, workspace_option

    @click.command()
    @click.argument("verdict", type=click.Choice(["up", "down"]))
    @click.argument("identifier", metavar="ID")
    @click.option(
        "--query", "-q", help="The question it answers, or does not; default: the last it was shown for."
    )
    @click.option("--agent", "-a", default="", help="The agent that asked.")
    @workspace_option
    @json_option
    def thumb(
        verdict: str, identifier: str, query: str | None, agent: str, workspace: Path | None, as_json: bool
    ) -> None:
        """Say that a memory answers a question, or does not.

        ID may be the unique beginning of one. The question is kept redacted; `olav bench mine` makes
        benchmark queries of it. Nothing changes in what is recalled.

        With --json: {"id", "verdict", "query", "query_hash", "agent"}; "query" is "" when the words are not
        known (recall.log_queries is off).
        """
        terminal = Terminal(as_json=as_json)
        with terminal.guarded(), olav_core.open(workspace) as memory:
            given = memory.history.thumb(identifier, verdict, query=query, agent=agent)  # type: ignore[arg-type]
        value = {
            "id": given.memory_id,
            "verdict": given.verdict,
            "query": given.query,
            "query_hash": given.query_hash,
            "agent": given.agent,
        }
        about = given.query or ("a query whose words were not kept" if given.query_hash else "no known query")
        terminal.result(value, f"Thumb {given.verdict} for {given.memory_id}: {about}")

    return thumb


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="thumb", help="Say that a memory answers a question, or not.", load=_command)]
