"""Case 34 and 38: `olav kb rescan`, a real process, is killed with SIGKILL between two of its steps."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import olav_core
from olav_core import Draft

ROWS = 60
SECRET = "Zq7k" * 8
COMMAND = "from olav_core.cli.main import main; main()"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that was filled while no redactor was on: a lesson that names two of its rows."""
    monkeypatch.setenv("OLAV_DISABLE", "secrets")
    root = tmp_path / "ws"
    with olav_core.init(root, embedder="hashing", options={"dimension": 64}) as memory:
        memory.remember_many(
            [
                Draft(text=f"设备 device {n} token=gh" + f"p_{n:04d}{SECRET}", category="fact")
                for n in range(ROWS)
            ]
        )
        sources = [row.id for row in memory.list(category="fact", limit=2)]
        memory.remember("rotate", category="expert_knowledge", origin="agent", metadata={"sources": sources})
    monkeypatch.delenv("OLAV_DISABLE")
    return root


def written(root: Path) -> int:
    """How many files the store has: each step of the rescan adds some."""
    return sum(1 for path in (root / ".olav" / "databases").rglob("*") if path.is_file())


@pytest.mark.parametrize("steps", [1, 2, 4, 7])
def test_case_34_a_killed_rescan_loses_and_doubles_nothing_and_a_second_one_finishes(
    old: Path, steps: int
) -> None:
    before = written(old)
    words = [sys.executable, "-c", COMMAND, "kb", "rescan", "--workspace", str(old), "--json"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and written(old) < before + steps and time.monotonic() < deadline:
            pass
        process.kill()
        code = process.wait()
    assert code in (-signal.SIGKILL, 0)  # 0: it was faster than the kill
    with olav_core.open(old) as memory:
        texts = [row.text for row in memory.list(category="fact")]
        assert {text.split()[2] for text in texts} == {str(n) for n in range(ROWS)}, "a row is lost"
        report = memory.rescan()
        assert report.faults == []
        rows = memory.list(category="fact")
        assert len(rows) == ROWS, "a row is doubled"
        assert len({row.text.split()[2] for row in rows}) == ROWS
        assert all("<redacted:" in row.text and SECRET not in row.text for row in rows)
        (lesson,) = memory.list(category="expert_knowledge")
        assert set(lesson.metadata["sources"]) <= {row.id for row in rows}, "a link leads nowhere"
        assert memory.rescan().items == []
    assert not [p for p in old.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]
