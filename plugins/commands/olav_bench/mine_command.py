"""The command `olav bench mine`."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from olav_core import FiniteFloat, Terminal, json_option, workspace_option


@click.command()
@click.option(
    "--since", "days", type=FiniteFloat(0, 100_000, min_open=True), metavar="DAYS", help="Only the last days."
)
@click.option("--unlabelled", is_flag=True, help="Also queries without a thumb up, for a person to label.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write the queries there, one a line.")
@workspace_option
@json_option
def mine(
    days: float | None, unlabelled: bool, output: Path | None, workspace: Path | None, as_json: bool
) -> None:
    """Make golden queries of what was asked and of thumbs.

    Words of queries are kept while the setting recall.log_queries is true, redacted; `olav thumb` says what
    answers them. `olav bench run store WORKSPACE FILE` measures with them. The workspace is only read.

    With --json: {"queries": [{"qid", "query", "agent", "lang", "relevant", "rejected", "kind", "times"}],
    "labelled", "unlabelled", "without_words", "gone", "output"}; "relevant" is null and "shown" is there for
    a query that waits for its label. "without_words" counts thumbs whose query was not kept, "gone" those on
    memories that are no more.
    """
    from olav_bench.live_copy import open_live
    from olav_bench.mining import mine as mined
    from olav_bench.report import write_text
    from olav_bench.workspaces import root_of

    terminal = Terminal(as_json=as_json)
    since = None if days is None else datetime.now(UTC) - timedelta(days=days)
    with terminal.guarded(), open_live(root_of(workspace)) as memory:
        found = mined(memory, since)
    rows = [row for row in found["queries"] if unlabelled or row["relevant"] is not None]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if output is not None:
        write_text(output, "".join(f"{line}\n" for line in lines))
    value: dict[str, Any] = found | {"queries": rows, "output": None if output is None else str(output)}
    terminal.result(value, *([] if output is not None else lines))
    if not as_json:
        terminal.note(_told(found, unlabelled), style="dim")


def _told(found: dict[str, Any], unlabelled: bool) -> str:
    told = f"{found['labelled']} queries with a thumb up, {found['unlabelled']} without"
    told += "." if unlabelled or not found["unlabelled"] else ": --unlabelled gives those too."
    if found["without_words"]:
        told += f" {found['without_words']} thumbs are on queries whose words were not kept: set"
        told += " recall.log_queries to true."
    if found["gone"]:
        told += f" {found['gone']} thumbs are on memories that are gone."
    return told
