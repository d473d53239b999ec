"""Faults: real processes, killed at random moments, many times; what is lost, doubled or invented.

python benchmarks/bench_faults.py [--tries 200] [--seed 1]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from environment import save

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))
import killing

#: The conversion of the model takes seconds and touches no store: fewer tries.
SLOW = {"e5 conversion": 8}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    figures = []
    for action in killing.SPAN:
        tries = max(1, options.tries // SLOW.get(action, 1))
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            tally = killing.trials(action, Path(folder) / "w", tries, options.seed, examine_every=20)
        figures.append(
            {
                "fault": f"kill -9 during {action}",
                "tries": tally.tries,
                "acknowledged": tally.acknowledged,
                "lost": tally.lost,
                "doubled": tally.doubled,
                "invented": tally.invented,
                "faults": tally.faults,
                "seconds": round(time.perf_counter() - began, 1),
            }
        )
        print(figures[-1], flush=True)
    print(save("faults", {"tries": options.tries, "seed": options.seed, "span_s": killing.SPAN}, figures))


if __name__ == "__main__":
    main()
