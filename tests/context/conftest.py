"""Workspaces with an agent kept by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import olav_core
from olav_core import Memory

Write = Callable[..., Path]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        yield memory


@pytest.fixture
def write(memory: Memory) -> Write:
    """Write files of the agent `analyzer`: `write(front, **{"path": text})`, `front` its front matter."""

    def run(front: str, files: dict[str, str], agent: str = "analyzer") -> Path:
        folder = memory.workspace.root / agent
        for path, text in {"AGENT.md": f"---\n{front}\n---\nYou analyse.\n", **files}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return folder

    return run
