"""A process that never closes its memory ends well, and what it logged is on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import olav_core

CHILD = """
import sys, olav_core
memory = olav_core.open(sys.argv[1])
memory.recall("loopback of R1")
"""


def test_leaving_without_closing_neither_aborts_nor_loses_the_log(tmp_path: Path) -> None:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        memory.remember("The loopback of R1 is 10.255.0.1")
    command = [sys.executable, "-c", CHILD, str(tmp_path / "ws")]
    for _ in range(5):
        assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    with olav_core.open(tmp_path / "ws") as memory:
        memory.store.fold_access_counts()
        assert memory.list()[0].access_count == 5
