"""A workspace to import into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk

import olav_core


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        yield Desk(memory)
