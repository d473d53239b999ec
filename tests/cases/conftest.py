"""Workspaces of the case tests, made through the facade; embedder `hashing` unless a test names one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from case_workspace import Make, configure
from click.testing import CliRunner

import olav_core
from olav_core import Memory
from olav_core.cli.main import main


@contextmanager
def _making(folder: Path) -> Iterator[Make]:
    opened: list[Memory] = []

    def run(
        name: str = "ws",
        *,
        embedder: str = "hashing",
        plugins: dict[str, str] | None = None,
        settings: str = "",
        options: dict[str, Any] | None = None,
    ) -> Memory:
        root = folder / name
        place = root / ".olav" / "plugins"
        place.mkdir(parents=True)
        for file, source in (plugins or {}).items():
            (place / f"{file}.py").write_text(source, encoding="utf-8")
        olav_core.init(root, embedder=embedder, options=options).close()
        if settings:
            configure(root, settings, embedder=embedder, options=options)
        opened.append(olav_core.open(root))
        return opened[-1]

    yield run
    for memory in opened:
        memory.close()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Make a workspace `name` with single-file plug-ins (file name -> source) and settings, and open it."""
    with _making(tmp_path) as run:
        yield run


@pytest.fixture(scope="module")
def make_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """`make` for workspaces that the tests of one module only read."""
    with _making(tmp_path_factory.mktemp("shared")) as run:
        yield run


@pytest.fixture
def memory(make: Make) -> Memory:
    """An empty memory with the hashing embedder."""
    return make()


@pytest.fixture
def cli() -> Callable[..., Any]:
    """Run `olav --workspace ROOT ARGS --json` and return its object; it must succeed."""

    def run(memory: Memory, *args: object) -> Any:
        line = ["--workspace", str(memory.workspace.root), *map(str, args)]
        line.insert(line.index("--") if "--" in line else len(line), "--json")
        result = CliRunner().invoke(main, line, prog_name="olav")
        assert result.exit_code == 0, (result.stdout, result.stderr, result.exception)
        return json.loads(result.stdout)

    return run
