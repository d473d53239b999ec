"""The examples run offline and show what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMISED = {
    "langchain_agent.py": [
        "=== model, call 4",
        "Services are registered as",
        "Injected blocks in the checkpoints: none",
        "Captured: Action: register_service",
    ],
    "deepagent.py": [
        "=== subagent netops, call 2",
        "data must be one string, but you sent an object",
        "Captured for netops: push_config",
        "Captured for core: format_and_export",
        "Exported r1.md",
    ],
}


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / name), "--embedder", "hashing"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in PROMISED[name]:
        assert line in done.stdout
    assert list(tmp_path.iterdir()) == []
