"""The commands `olav bench suites` and `olav bench compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core import RecordError, Terminal, build_registry, json_option


@click.command()
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


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@json_option
def compare(before: Path, after: Path, as_json: bool) -> None:
    """Compare two reports, query by query.

    `olav bench run` writes them: --output names one, without it they are kept in the cache. Runs of one name
    are compared; where no name is shared, the first run of BEFORE with every run of AFTER.

    With --json: {"comparisons": [{"name", "against", "metric", "metric_name", "n", "difference", "low",
    "high", "p", "p_adjusted", "significant"}]}: AFTER minus BEFORE, 95% bootstrap interval, paired
    permutation test, Holm's adjustment for the number of metrics.
    """
    from olav_bench.comparison import compare_reports, pairs
    from olav_bench.difference_table import differences

    terminal = Terminal(as_json=as_json)
    rows = [row for pair in pairs(read_report(before), read_report(after)) for row in compare_reports(*pair)]
    terminal.result({"comparisons": rows}, differences(rows))


def read_report(path: Path) -> list[dict[str, Any]]:
    """Return the runs of a report file; raises RecordError when it is none."""
    from olav_bench.reading import read_json

    found = read_json(path)
    runs = found.get("runs") if isinstance(found, dict) else None
    if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
        raise RecordError(f"{path} is no report: it has no list `runs`. Give what `olav bench run` wrote.")
    for run in runs:
        missing = {"per_query", "configuration", "metric_names", "unit", "pool"} - set(run)
        if missing:
            raise RecordError(f"{path} is no report: a run of it has no {sorted(missing)[0]!r}.")
    return runs
