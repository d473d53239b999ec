"""The fixture `olav_recall`, as a team's own CI gets it: by installing olav-core, nothing imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_suite import MEMORIES, QUERIES, Write

pytest_plugins = ["pytester"]
TEAMS_TEST = """
import pytest


def measured(olav_recall, **options):
    return olav_recall("native", "data/memories.jsonl", "data/queries.jsonl", embedder="hashing", **options)


def test_good(olav_recall):
    figures = measured(olav_recall)
    figures.at_least("R@1", 0.9)
    figures.at_least("lang:zh->zh/all@5", 1)
    figures.at_most("leaks", 0)
    assert figures.value("small/relevant_injected_share") == 1
    assert figures.missed("R@1") == []
    assert figures.report["queries"] == 4


def test_the_same_is_measured_once(olav_recall):
    assert measured(olav_recall).report is measured(olav_recall).report


def test_settings_change_what_is_measured(olav_recall):
    figures = measured(olav_recall, ranker="rrf", settings={"categories.fact.cap": 0}, tiers="large")
    assert figures.value("large/relevant_injected_share") == 0


def test_bad(olav_recall):
    measured(olav_recall, settings={"categories.fact.cap": 0}).at_least("small/relevant_injected_share", 0.5)


def test_unknown(olav_recall):
    measured(olav_recall).at_least("R@7", 0.5)
"""


def test_bounds_in_a_teams_ci(pytester: pytest.Pytester, write: Write) -> None:
    folder = Path(pytester.mkdir("data"))
    write(folder / "memories.jsonl", MEMORIES)
    write(folder / "queries.jsonl", QUERIES)
    pytester.makepyfile(TEAMS_TEST)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rf")
    done.assert_outcomes(passed=3, failed=2)
    done.stdout.fnmatch_lines(
        [
            "*small/relevant_injected_share is 0.0000, under 0.5*Worst queries: q1, q2, q3.*",
            "*The report has no figure 'R@7'*",
        ]
    )


def test_the_plug_in_costs_a_session_nothing_heavy(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_heavy_is_loaded():
            assert not {"numpy", "lancedb", "matplotlib", "ir_measures", "rich"} & set(sys.modules)
        """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest").assert_outcomes(
        passed=1
    )
