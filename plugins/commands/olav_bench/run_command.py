"""The command `olav bench run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core import Terminal, embedder_options, json_option


@click.command()
@click.argument("suite")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--embedder", "embedders", metavar="ID,…", help="Embedders to compare; default: e5, or the store's."
)
@embedder_options
@click.option(
    "--ranker",
    "chains",
    multiple=True,
    metavar="ID,…",
    help="Rankers to compare, each put into the default chain (`-ID` left out of it, `default` as it is); or "
    "a whole chain; repeatable.",
)
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="A setting, as recall.floor=0.2.")
@click.option("--settings", type=click.Path(path_type=Path), help="A config.yaml instead of the defaults.")
@click.option("--tier", "tiers", default="small,medium,large", show_default=True, help="Tiers to inject at.")
@click.option("--category", help="Recall only this category.")
@click.option("--kind", help="Only queries of this kind.")
@click.option("--split", type=click.Choice(["dev", "test"]), help="Only this half (by hash if not marked).")
@click.option("--limit", type=click.IntRange(1), help="At most so many queries, drawn by --seed.")
@click.option("--seed", default=0, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Where vectors and reports are kept.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write the whole report as JSON.")
@click.option(
    "--html", type=click.Path(path_type=Path), help="Write the report as one HTML file, with plots."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown tables.")
@click.option("--fail-under", multiple=True, metavar="METRIC=VALUE", help="Exit 1 when a figure is lower.")
@click.option("--fail-over", multiple=True, metavar="METRIC=VALUE", help="Exit 1 when a figure is higher.")
@json_option
def run(
    suite: str,
    paths: tuple[Path, ...],
    embedders: str | None,
    options: dict[str, Any],
    chains: tuple[str, ...],
    changes: tuple[str, ...],
    settings: Path | None,
    tiers: str,
    category: str | None,
    kind: str | None,
    split: str | None,
    limit: int | None,
    seed: int,
    cache: Path | None,
    output: Path | None,
    html: Path | None,
    as_markdown: bool,
    fail_under: tuple[str, ...],
    fail_over: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run SUITE on the data in PATHS; see docs/benchmarking.md.

    Every embedder is run with every chain of rankers; the first configuration is compared with the others,
    query by query. The report is kept in the cache, and where --output says. --fail-under and --fail-over
    hold for every configuration.

    With --json: {"runs": [report], "comparisons": [as in `olav bench compare`], "missed": [sentence],
    "saved": path}; a report has "retrieval" by group, "injection" by tier, "latency" by stage, "leaks",
    "configuration", "rankings".
    """
    from olav_bench.comparison import compare_reports
    from olav_bench.difference_table import differences
    from olav_bench.figures import bounds
    from olav_bench.markdown import markdown
    from olav_bench.planning import plan, where_kept
    from olav_bench.report import save, write_text
    from olav_bench.running import measure
    from olav_bench.tables import tables

    terminal = Terminal(as_json=as_json)
    kept_bounds = bounds(fail_under, fail_over)
    with terminal.guarded():
        planned = plan(
            suite, paths, embedders=embedders, options=options, chains=chains, changes=changes,
            settings=settings, tiers=tiers, category=category, kind=kind, split=split, limit=limit, seed=seed,
        )  # fmt: skip
    found: list[dict[str, Any]] = []
    for configuration in planned.configurations:
        with (
            terminal.guarded(),
            terminal.progress(f"store · {configuration.name}") as on_write,
            terminal.progress(f"ask · {configuration.name}") as on_query,
        ):
            measured = measure(
                planned.suite, configuration, cache=cache, registry=planned.registry,
                on_write=on_write, on_query=on_query,
            )  # fmt: skip
        measured["configuration"] |= {"split": split, "kind": kind, "limit": limit, "seed": seed}
        found.append(measured)
        terminal.print(*([markdown(measured)] if as_markdown else tables(measured)))
    rows = [row for other in found[1:] for row in compare_reports(found[0], other)]
    missed = [line for bound in kept_bounds for each in found if (line := bound.missed(each))]
    whole: dict[str, Any] = {"runs": found, "comparisons": rows, "missed": missed}
    place = output or where_kept(cache, found)
    save(whole, place)
    if html is not None:
        from olav_bench.html import page

        with terminal.guarded():
            write_text(html, page(found, rows))
    terminal.result(whole | {"saved": str(place)}, *([differences(rows)] if rows else []))
    if not as_json:
        terminal.note(f"Report: {place}" + (f" and {html}" if html else ""), style="dim")
    for line in missed:
        terminal.note(line, style="red")
    if missed:
        click.get_current_context().exit(1)
