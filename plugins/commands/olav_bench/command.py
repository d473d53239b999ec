"""The commands `olav bench run`, `compare` and `suites`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from olav_core import OlavError, RecordError, Terminal, build_registry, json_option


@click.group()
def bench() -> None:
    """Measure recall quality and latency, through the recall path that agents use."""


@bench.command()
@json_option
def suites(as_json: bool) -> None:
    """List the kinds of data.

    These are the suites that `olav bench run` takes.

    With --json: {"suites": [{"id", "purpose", "files"}]}.
    """
    terminal = Terminal(as_json=as_json)
    found = [
        {"id": spec.id, "purpose": spec.purpose, "files": spec.files}
        for spec in build_registry().suites.values()
    ]
    terminal.result(
        {"suites": found}, *(f"{row['id']}: {row['purpose']}\n    {row['files']}" for row in found)
    )


@bench.command()
@click.argument("suite")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--embedder", "embedders", default="e5", help="Embedder ids, separated by commas.")
@click.option(
    "--ranker", "chains", multiple=True, help="A chain of ranker ids, separated by commas; repeatable."
)
@click.option("--tier", "tiers", default="small,medium,large", help="Tiers, separated by commas.")
@click.option("--category", help="Recall only this category.")
@click.option("--kind", help="Only queries of this kind.")
@click.option("--split", type=click.Choice(["dev", "test"]), help="Only this half (by hash if not marked).")
@click.option("--limit", type=click.IntRange(1), help="At most so many queries, drawn by --seed.")
@click.option("--seed", default=0, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Where stores are kept between runs.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the whole report as JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the ranking as a Markdown table.")
@click.option("--fail-under", multiple=True, metavar="METRIC=VALUE", help="Exit 1 when a figure is lower.")
@json_option
def run(
    suite: str,
    paths: tuple[Path, ...],
    embedders: str,
    chains: tuple[str, ...],
    tiers: str,
    category: str | None,
    kind: str | None,
    split: str | None,
    limit: int | None,
    seed: int,
    cache: Path | None,
    output: Path | None,
    as_markdown: bool,
    fail_under: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run SUITE on the data in PATHS.

    Several embedders or chains are compared with the first, query by query.

    With --json: {"runs": [report], "comparisons": [{"name", "against", "metric", "difference", "low", "high",
    "p"}]}; a report has retrieval by group, injection by tier, latency by stage, leaks, rankings.
    """
    from olav_bench import report as reports
    from olav_bench.running import Configuration, select_queries
    from olav_bench.running import run as run_suite

    terminal = Terminal(as_json=as_json)
    loaded = build_registry().suite(suite).load(paths)
    chosen = select_queries(loaded, split=split, kind=kind, limit=limit, seed=seed)
    found: list[dict[str, Any]] = []
    for embedder in _words(embedders):
        for chain in chains or ("",):
            configuration = Configuration(
                embedder=embedder, rankers=_words(chain), tiers=_words(tiers), category=category
            )
            with (
                terminal.guarded(),
                terminal.progress("store") as on_write,
                terminal.progress("ask") as on_query,
            ):
                answers = run_suite(chosen, configuration, cache=cache, on_write=on_write, on_query=on_query)
            found.append(reports.report(chosen, configuration, answers))
            terminal.print(*([reports.markdown(found[-1])] if as_markdown else reports.tables(found[-1])))
    comparisons = [row for other in found[1:] for row in compare_reports(found[0], other)]
    if output is not None:
        output.write_text(
            json.dumps({"runs": found, "comparisons": comparisons}, ensure_ascii=False, indent=1)
        )
    missed = [line for line in (_missed(found[0], condition) for condition in fail_under) if line]
    terminal.result({"runs": found, "comparisons": comparisons}, *map(_sentence, comparisons))
    for line in missed:
        terminal.note(line, style="red")
    if missed:
        click.get_current_context().exit(1)


@bench.command()
@click.argument("before", type=click.Path(path_type=Path, exists=True))
@click.argument("after", type=click.Path(path_type=Path, exists=True))
@json_option
def compare(before: Path, after: Path, as_json: bool) -> None:
    """Compare two reports, query by query.

    `olav bench run --output` writes them.

    With --json: {"comparisons": [{"name", "against", "metric", "difference", "low", "high", "p"}]}.
    """
    from olav_bench.reading import read_json

    terminal = Terminal(as_json=as_json)
    rows = compare_reports(read_json(before)["runs"][0], read_json(after)["runs"][0])
    terminal.result({"comparisons": rows}, *map(_sentence, rows))


def compare_reports(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the paired differences of the main metrics over the queries that both reports have."""
    from olav_bench.metrics import paired

    shared = [qid for qid in before["per_query"] if qid in after["per_query"]]
    if not shared:
        raise RecordError("The two reports share no query: they are of different data.")
    return [
        {
            "name": after["configuration"]["name"],
            "against": before["configuration"]["name"],
            "metric": metric,
            "n": len(shared),
            **paired(
                [before["per_query"][qid][metric] for qid in shared],
                [after["per_query"][qid][metric] for qid in shared],
            ),
        }
        for metric in ("R@1", "R@5", "R@10", "nDCG@10")
    ]


def _sentence(row: dict[str, Any]) -> str:
    return (
        f"{row['name']} against {row['against']}: {row['metric']} {row['difference']:+.3f} "
        f"[{row['low']:+.3f}, {row['high']:+.3f}], p {row['p']:.3f}, n {row['n']}"
    )


def _missed(found: dict[str, Any], condition: str) -> str:
    from olav_bench.report import value

    name, equals, bound = condition.partition("=")
    try:
        least = float(bound)
        figure = value(found, name)
    except (KeyError, ValueError) as error:
        raise OlavError(
            f"--fail-under {condition!r} names no figure. Write METRIC=VALUE, such as R@5=0.9, "
            "kind:typo/R@5=0.8 or large/block_precision=0.3."
        ) from error
    return f"{name} is {figure:.4f}, under {least:g}." if equals and figure < least else ""


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
