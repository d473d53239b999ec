"""Recall latency of olav-core and of others, on the same texts and vectors, embedding left out.

    python benchmarks/bench_peers.py --rows 10000 100000 \\
        --python langgraph=VENV/bin/python --python olav=OTHER_VENV/bin/python

A peer is a script of benchmarks/peers, run in a process of its own: by this interpreter, or by the one given
for it. A peer whose packages are not there is left out and named. `olav` (PyPI, the system that the project's
description comes from) needs `pip install olav==0.27.0` in an environment of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from environment import save
from generator import drafts, queries
from peers import dataset

import olav_core

HERE = Path(__file__).parent
PEERS = ("numpy_tantivy", "olav_core", "lancedb", "langgraph", "olav")
#: Rows above which a peer would take minutes for nothing new.
MOST_ROWS = {"langgraph": 100_000, "olav": 10_000}


def prepare(folder: Path, rows: int, count: int) -> None:
    """Write the texts as the product indexes them, and the vectors of its test embedder."""
    made = list(drafts(rows))
    asked = queries(count + dataset.WARM)
    options = {"dimension": 384}
    with (
        tempfile.TemporaryDirectory() as place,
        olav_core.init(place, embedder="hashing", options=options) as memory,
    ):
        records = [memory.prepare(draft) for draft in made]
        vectors = memory.embedder.passages([record.search_text for record in records])
        query_vectors = np.stack([memory.embedder.query(query) for query in asked])
    data = dataset.Dataset(
        texts=[record.search_text for record in records],
        scopes=[record.scope for record in records],
        categories=[record.category for record in records],
        vectors=vectors,
        queries=asked,
        query_vectors=query_vectors,
        scope=("netops", "global"),
        limits=(1, 13),
    )
    dataset.write(folder, data)


def run(peer: str, python: str, folder: Path) -> dict[str, Any] | None:
    """Run one peer in its own process and return what it reported, None when it could not run."""
    path = os.pathsep.join([str(HERE), str(HERE / "peers")])
    done = subprocess.run(
        [python, str(HERE / "peers" / f"peer_{peer}.py"), str(folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        cwd=folder,
    )
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("RESULT "):
            return json.loads(line.removeprefix("RESULT "))  # type: ignore[no-any-return]
    print(f"{peer} could not run:\n{done.stderr.strip()[-1500:]}", file=sys.stderr)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--peers", nargs="+", default=PEERS)
    parser.add_argument("--python", action="append", default=[], metavar="PEER=INTERPRETER")
    arguments = parser.parse_args()
    pythons = dict(pair.split("=", 1) for pair in arguments.python)
    figures = []
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder), rows, arguments.queries)
            for peer in arguments.peers:
                if rows > MOST_ROWS.get(peer, rows):
                    continue
                found = run(peer, pythons.get(peer, sys.executable), Path(folder))
                if found:
                    figures.append({"rows": rows, **found, "load_average": round(os.getloadavg()[0], 1)})
                    print(figures[-1])
    configuration = {"queries": arguments.queries, "dimension": 384, "embedding": "precomputed"}
    print(save("peers", configuration, figures))


if __name__ == "__main__":
    main()
