"""A workspace with the hashing embedder, and a way to open it again as another process would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import olav_core
from olav_core import Memory


@pytest.fixture
def open_again(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Open the workspace at `tmp_path`, made on first use; `capture` lines go into its configuration."""
    opened: list[Memory] = []

    def run(**capture: Any) -> Memory:
        import yaml

        if not (tmp_path / ".olav").exists():
            olav_core.init(tmp_path, embedder="hashing").close()
        if capture:
            config = {"embedder": {"id": "hashing"}, "capture": capture}
            (tmp_path / ".olav" / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        memory = olav_core.open(tmp_path)
        opened.append(memory)
        return memory

    yield run
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_again: Callable[..., Memory]) -> Memory:
    return open_again()


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / ".olav" / "spool"
