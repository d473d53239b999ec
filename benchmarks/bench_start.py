"""Start-up: `olav --help` and a cold `olav recall`, each as a fresh process.

python benchmarks/bench_start.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from environment import save

import olav_core

REPEATS = 10


def main() -> None:
    olav = str(Path(sys.executable).parent / "olav")
    with tempfile.TemporaryDirectory() as folder:
        with olav_core.init(folder) as memory:
            memory.remember("R1 的 loopback 是 10.255.0.1", scope="netops")
        commands = {
            "olav --help": [olav, "--help"],
            "olav recall (cold, e5)": [olav, "recall", "loopback of R1", "--agent", "netops", "--json"],
        }
        figures = {}
        for name, command in commands.items():
            taken = []
            for _ in range(REPEATS):
                began = time.perf_counter()
                subprocess.run(command, cwd=folder, check=True, capture_output=True, env=os.environ)
                taken.append(time.perf_counter() - began)
            figures[name] = {
                "p50_s": round(float(np.median(taken)), 3),
                "max_s": round(max(taken), 3),
            }
    print(figures)
    print(save("start", {"repeats": REPEATS}, figures))


if __name__ == "__main__":
    main()
