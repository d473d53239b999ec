"""A small store, and a way to run child processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from store_rows import SPACE

from olav_core.store.store import Store


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "databases" / "memory.lance")


@pytest.fixture
def store(uri: str) -> Iterator[Store]:
    with Store.create(uri, SPACE) as opened:
        yield opened


@pytest.fixture
def spawn() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `store_child.py ARGS…`; what still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(*args: object) -> subprocess.Popen[str]:
        command = [sys.executable, str(Path(__file__).with_name("store_child.py")), *map(str, args)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
