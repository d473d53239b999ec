"""The command `olav replay`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from olav_core import FiniteFloat, RecordError, Terminal, embedder_options, json_option, workspace_option


@click.command()
@click.option("--embedder", metavar="ID", help="Another embedder: all rows are embedded with it once.")
@embedder_options
@click.option("--ranker", "chains", metavar="ID,…", help="A ranker put into the chain, or a whole chain.")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="A setting, as recall.floor=0.2.")
@click.option(
    "--since", "days", type=FiniteFloat(0, 100_000, min_open=True), metavar="DAYS", help="Only the last days."
)
@click.option("--limit", type=click.IntRange(1), help="At most so many queries, the latest.")
@click.option("--cache", type=click.Path(path_type=Path), help="Where vectors are kept.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write the whole difference as JSON.")
@workspace_option
@json_option
def replay(
    embedder: str | None,
    options: dict[str, Any],
    chains: str | None,
    changes: tuple[str, ...],
    days: float | None,
    limit: int | None,
    cache: Path | None,
    output: Path | None,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Ask past queries again, under another embedder, ranker or gate.

    Shows what would be injected instead. Past queries are there from when the setting recall.log_queries was
    made true. A gate is changed with --set, as in --set 'categories.reflection.gates=[{id: distance, max:
    0.6}]'. The rows are copied: the workspace is only read.

    With --json: {"before", "after": name and settings, "queries", "changed": {"mean", "low", "high"}, "rows":
    {"added", "removed", "kept"} by category, "tokens": {"before", "after", "difference", "p"}, "thumbs":
    {"up", "down": {"known", "before", "after"}}, "degraded", "per_query": [{"query", "agent", "tier",
    "times", "added", "removed", "kept", "order_changed"}]}.
    """
    from olav_bench.configuration import described
    from olav_bench.live_copy import open_live
    from olav_bench.planning import replay_plan
    from olav_bench.replaying import difference, distinct
    from olav_bench.replaying import replay as replayed
    from olav_bench.report import save
    from olav_bench.workspaces import root_of

    terminal = Terminal(as_json=as_json)
    root = root_of(workspace)
    with terminal.guarded():
        registry, old, new = replay_plan(root, embedder, options, chains, changes)
        with open_live(root) as memory:
            since = None if days is None else datetime.now(UTC) - timedelta(days=days)
            asked = distinct(memory.history.queries(since))[:limit]
            thumbs = memory.history.thumbs()
    if not asked:
        when = f" of the last {days:g} days" if days else ""
        raise RecordError(
            f"No past query{when} is kept in this workspace. Set `recall: {{log_queries: true}}` in "
            ".olav/config.yaml: from then on the redacted words of queries are kept."
        )
    sides = []
    for side in (old, new):
        with (
            terminal.guarded(),
            terminal.progress(f"store · {side.name}") as on_write,
            terminal.progress(f"ask · {side.name}") as on_query,
        ):
            queries = [query for query, _ in asked]
            sides.append(
                replayed(
                    root, queries, side, registry=registry, cache=cache, on_write=on_write, on_query=on_query
                )
            )
    found = difference(asked, sides[0], sides[1], thumbs)
    value = {"before": described(old, registry), "after": described(new, registry), **found}
    if output is not None:
        save(value, output)
    terminal.result(value, *([] if as_json else _view(found)))


def _view(found: dict[str, Any]) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    share, tokens = found["changed"], found["tokens"]
    lines: list[Any] = [
        f"{found['queries']} queries; {share['mean']:.0%} get another block "
        f"[{share['low']:.0%}–{share['high']:.0%}]; tokens {tokens['before']:.0f} → {tokens['after']:.0f}"
    ]
    for verdict, row in found["thumbs"].items():
        if row["known"]:
            lines.append(f"thumbs {verdict}: {row['before']} → {row['after']} of {row['known']} injected")
    table = Table("category", "kept", "added", "removed", box=None)
    names = sorted({name for counts in found["rows"].values() for name in counts})
    for name in names:
        table.add_row(name, *(str(found["rows"][part].get(name, 0)) for part in ("kept", "added", "removed")))
    lines.append(table)
    for row in found["per_query"]:
        if row["added"] or row["removed"]:
            lines.append(Text(f"{row['agent']} · {row['tier']} · {row['query']}", "bold"))
            lines += [
                Text(f"  + {item['id']}  {item['text']}", "green", no_wrap=True) for item in row["added"]
            ]
            lines += [
                Text(f"  - {item['id']}  {item['text']}", "red", no_wrap=True) for item in row["removed"]
            ]
    return lines + [f"degraded: {line}" for line in found["degraded"]]
