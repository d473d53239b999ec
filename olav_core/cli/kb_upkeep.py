"""`olav kb optimize` and `reembed`: keep the store small, or move it to another embedder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.options import embedder_options, json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal


@click.command()
@workspace_option
@json_option
def optimize(workspace: Path | None, as_json: bool) -> None:
    """Compact the store: merge small files, drop old versions and expired rows.

    Exit code 1 when a step failed; the others are done all the same.

    With --json: {"folded", "expired", "log_rows_deleted", "versions", "fragments", "failures"}.
    """
    from attrs import asdict

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        report = asdict(memory.optimize())
    failures = list(report.pop("failures"))
    if as_json:
        terminal.result(report | {"failures": failures})
    else:
        from olav_core.cli.view import facts_table

        words = {
            "folded": "access counts folded",
            "expired": "expired rows deleted",
            "log_rows_deleted": "old recall-log rows deleted",
            "versions": "versions left",
            "fragments": "fragments left",
        }
        terminal.print(facts_table({words.get(name, name): value for name, value in report.items()}))
    for failure in failures:
        terminal.note(failure, style="red")
    if failures:
        click.get_current_context().exit(FAILED)


@click.command()
@click.option("--to", "embedder", metavar="ID", help="The embedder to move to.")
@embedder_options
@click.option("--purge", is_flag=True, help="Delete the vectors of the embedders that were left.")
@workspace_option
@json_option
def reembed(
    embedder: str | None, options: dict[str, Any], purge: bool, workspace: Path | None, as_json: bool
) -> None:
    """Move the store to another embedder, in one step at the end; a killed run resumes.

    Recall goes on with the old vectors until the switch. They are kept until --purge, so that the way back
    embeds only what changed; --purge alone deletes them later.

    With --json: {"embedder", "rows", "embedded", "reused", "kept", "purged": [name]}.
    """
    if embedder is None and not purge:
        raise click.UsageError("Give --to ID, or --purge to delete what an earlier move kept.")
    terminal = Terminal(as_json=as_json)
    out: dict[str, Any] = {
        "embedder": None,
        "rows": None,
        "embedded": 0,
        "reused": 0,
        "kept": None,
        "purged": [],
    }
    with open_memory(workspace, terminal) as memory:
        if embedder is not None:
            with terminal.progress(f"Embedding with {embedder}") as on_progress:
                report = memory.reembed(embedder, options or None, on_progress=on_progress)
            names = ("rows", "embedded", "reused", "kept")
            out |= {"embedder": embedder, **{name: getattr(report, name) for name in names}}
        if purge:
            out["purged"] = list(memory.purge_old_spaces())
            out["kept"] = None
    terminal.result(out, *([] if as_json else _moved_view(out)))


def _moved_view(out: dict[str, Any]) -> list[Any]:
    from rich.text import Text

    lines = []
    if (
        out["embedder"]
        and not out["embedded"]
        and not out["reused"]
        and not out["kept"]
        and not out["purged"]
    ):
        lines.append(Text(f"The store is in the space of {out['embedder']} already.", style="yellow"))
    elif out["embedder"]:
        from olav_core.doctor.diagnosis import memories

        counts = f"{memories(out['rows'])}, {out['embedded']} embedded, {out['reused']} reused"
        lines.append(Text.assemble(("Moved ", "green"), f"to {out['embedder']}: {counts}."))
    if out["kept"]:
        lines.append(Text("The old vectors are kept; `olav kb reembed --purge` deletes them.", style="dim"))
    if out["purged"]:
        lines.append(Text(f"Deleted {len(out['purged'])} table(s) of old vectors."))
    return lines or [Text("There were no old vectors.")]
