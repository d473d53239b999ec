"""What the tests of learning share: a memory of either embedder, and the same with other settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

import olav_core
from olav_core import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Memory]:
    """A memory whose distances mean something."""
    with olav_core.init(tmp_path / "e5", embedder="e5") as opened:
        yield opened


@pytest.fixture
def with_settings(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Open the workspace with settings of `learning` or `chat` changed, as `with_settings(chat={…})`."""
    opened: list[Memory] = []

    def open_with(memory: Memory, **sections: dict[str, Any]) -> Memory:
        settings = memory.settings
        for name, changes in sections.items():
            settings = attrs.evolve(settings, **{name: attrs.evolve(getattr(settings, name), **changes)})
        opened.append(olav_core.open(memory.workspace.root, settings=settings))
        return opened[-1]

    yield open_with
    for other in opened:
        other.close()
