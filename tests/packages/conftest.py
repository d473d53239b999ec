"""A workspace of the package tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import olav_core
from olav_core import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        yield memory
