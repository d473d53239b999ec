"""A workspace with the hashing embedder, and `olav` in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from olav_core.cli.main import main


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OLAV_WORKSPACE", "OLAV_DISABLE", "OLAV_STRICT", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def olav() -> Callable[..., Result]:
    """Run `olav` with arguments; `input` is its stdin."""

    def run(*args: object, input: str | None = None) -> Result:
        return CliRunner().invoke(main, [str(arg) for arg in args], input=input, prog_name="olav")

    return run


@pytest.fixture
def object_of(olav: Callable[..., Result]) -> Callable[..., Any]:
    """Run `olav … --json`, expect success, and return the one object on stdout."""

    def run(*args: object, input: str | None = None, code: int = 0) -> Any:
        result = olav(*args, "--json", input=input)
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return json.loads(result.stdout)

    return run


@pytest.fixture
def workspace(tmp_path: Path, object_of: Callable[..., Any]) -> Path:
    """An empty workspace in the current folder."""
    object_of("init", "--embedder", "hashing", "--no-directives")
    return tmp_path
