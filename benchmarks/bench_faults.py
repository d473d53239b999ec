"""Faults: real processes that race or are killed at random moments, many times; what is lost or doubled.

python benchmarks/bench_faults.py [--tries 200] [--seed 1]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import asdict
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
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        figures = [
            measured(
                f"{count} processes write the same, index on id",
                lambda count=count: killing.race_trials(root / f"race{count}", options.tries // 4, count),
            )
            for count in (2, 8)
        ] + [
            measured(
                f"kill -9 during {action}",
                lambda action=action: killing.trials(
                    action,
                    root / action,
                    max(1, options.tries // SLOW.get(action, 1)),
                    options.seed,
                    examine_every=20,
                ),
            )
            for action in killing.SPAN
        ]
    print(save("faults", {"tries": options.tries, "seed": options.seed, "span_s": killing.SPAN}, figures))


def measured(fault: str, trials: Callable[[], killing.Tally]) -> dict[str, Any]:
    began = time.perf_counter()
    tally = trials()
    figure = {"fault": fault, **asdict(tally), "seconds": round(time.perf_counter() - began, 1)}
    print(figure, flush=True)
    return figure


if __name__ == "__main__":
    main()
