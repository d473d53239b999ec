"""Bulk import through the product against the bare embedder on the same texts.

python benchmarks/bench_import.py --rows 2000
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time

from environment import save
from generator import drafts

import olav_core


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--embedder", default="e5")
    arguments = parser.parse_args()
    rows = list(drafts(arguments.rows))
    with (
        tempfile.TemporaryDirectory() as folder,
        olav_core.init(folder, embedder=arguments.embedder) as memory,
    ):
        searched = [memory.prepare(draft).search_text for draft in rows]
        memory.embedder.passages(searched[:64])  # warm
        began = time.perf_counter()
        memory.embedder.passages(searched)
        bare = time.perf_counter() - began
        began = time.perf_counter()
        outcomes = memory.remember_many(rows)
        product = time.perf_counter() - began
        assert not [outcome for outcome in outcomes if outcome.error]
        began = time.perf_counter()
        memory.remember_many(rows)
        again = time.perf_counter() - began
    figures = {
        "rows": arguments.rows,
        "bare_embedder_rows_per_s": round(arguments.rows / bare, 1),
        "import_rows_per_s": round(arguments.rows / product, 1),
        "share_of_bare": round(bare / product, 3),
        "import_again_rows_per_s": round(arguments.rows / again, 1),
        "peak_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    print(figures)
    print(save("import", {"embedder": arguments.embedder}, figures))


if __name__ == "__main__":
    main()
