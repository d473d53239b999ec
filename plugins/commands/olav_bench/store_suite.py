"""Suite `store`: golden queries against a live workspace. Its rows are copied; it is not written to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from olav_bench.fields import Faults
from olav_bench.live_copy import open_live
from olav_bench.native import read_queries
from olav_core import RecordError, Suite


def load(paths: Sequence[Path]) -> Suite:
    """Return the suite of a workspace and a file of queries, whose ids are those of the workspace's
    memories."""
    if len(paths) != 2:
        raise RecordError(
            f"Suite store reads a workspace and a file of queries, WORKSPACE QUERIES; there are {len(paths)} "
            "paths. `olav bench mine` makes such a file."
        )
    workspace, queries_path = paths
    with open_live(workspace) as memory:
        ids = {record.id for record in memory.list()}
    faults = Faults()
    queries = read_queries(queries_path, ids, faults)
    faults.check()
    return Suite(
        id="store",
        memories={},
        queries=queries,
        unit="memory",
        pool="the agent's scopes",
        workspace=workspace,
    )
