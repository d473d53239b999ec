"""The fixture `olav_recall`: bounds on recall quality as tests of a team's own CI. Installed with
olav-core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

Recall = Callable[..., "RecallFigures"]
_RUNS: pytest.StashKey[dict[str, Mapping[str, Any]]] = pytest.StashKey()
#: Queries that a failed bound names.
SHOWN = 10


@frozen
class RecallFigures:
    """What one run measured. `report` is the object of `olav bench run --json`."""

    report: Mapping[str, Any]

    def value(self, metric: str) -> float:
        """Return a figure: `R@5`, `all@5`, `kind:typo/hit@5`, `large/block_precision`, `leaks`,
        `latency/total/p95_ms`."""
        from olav_bench.figures import value

        return value(self.report, metric)

    def at_least(self, metric: str, bound: float) -> None:
        """Fail the test when the figure is lower."""
        self._keep(metric, bound, least=True)

    def at_most(self, metric: str, bound: float) -> None:
        """Fail the test when the figure is higher."""
        self._keep(metric, bound, least=False)

    def missed(self, metric: str) -> list[str]:
        """Return the ids of queries on which this per-query metric is below 1, worst first."""
        group, _, last = metric.rpartition("/")
        tiered = group.partition("/")[0] in self.report["injection"]
        tier, _, rest = group.partition("/") if tiered else ("", "", group)
        name = f"{tier}/{last}" if tier else last
        asked = self.report["groups"].get(rest or "all", self.report["per_query"])
        rows = {qid: self.report["per_query"][qid] for qid in asked}
        found = [(row[name], qid) for qid, row in rows.items() if name in row]
        return [qid for figure, qid in sorted(found) if figure < 1]

    def _keep(self, metric: str, bound: float, *, least: bool) -> None:
        __tracebackhide__ = True
        from olav_bench.figures import Bound

        said = Bound(metric, bound, least).missed(self.report)
        if said:
            worst = (
                self.missed(metric) if least else self.report["leaking_queries"] if metric == "leaks" else []
            )
            pytest.fail(
                said + (f" Worst queries: {', '.join(worst[:SHOWN])}." if worst else ""), pytrace=False
            )


@pytest.fixture
def olav_recall(request: pytest.FixtureRequest) -> Recall:
    """Measure recall: `olav_recall("native", "memories.jsonl", "queries.jsonl", embedder="e5")`.

    Paths are relative to the test's file. Options: `embedder`, `options` (of the embedder), `ranker`,
    `settings` (a mapping such as `{"recall.floor": 0.2}`), `tiers`, `category`, `kind`, `split`, `limit`,
    `seed`. One session measures the same thing once.
    """
    runs = request.config.stash.setdefault(_RUNS, {})

    def measured(suite: str, *paths: str | Path, **options: Any) -> RecallFigures:
        places = [Path(request.path.parent, path) for path in paths]
        key = repr((suite, places, sorted(options.items())))
        if key not in runs:
            runs[key] = _measure(suite, places, **options)
        return RecallFigures(runs[key])

    return measured


def _measure(
    suite: str,
    paths: list[Path],
    *,
    embedder: str | None = None,
    ranker: str | None = None,
    settings: Mapping[str, Any] | None = None,
    tiers: str = "small,medium,large",
    **options: Any,
) -> Mapping[str, Any]:
    import json

    from olav_bench.planning import plan
    from olav_bench.running import measure

    planned = plan(
        suite,
        paths,
        embedders=embedder,
        chains=[ranker] if ranker else (),
        changes=[f"{key}={json.dumps(value)}" for key, value in (settings or {}).items()],
        tiers=tiers,
        **options,
    )
    if len(planned.configurations) != 1:
        pytest.fail(
            "olav_recall measures one configuration: name one embedder and one ranker.", pytrace=False
        )
    return measure(planned.suite, planned.configurations[0], registry=planned.registry)
