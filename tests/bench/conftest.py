"""A small bilingual suite on disk, and `olav` in this process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from bench_suite import MEMORIES, QUERIES, Run, Write
from click.testing import CliRunner

from olav_core.cli.main import main


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OLAV_WORKSPACE", "OLAV_DISABLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLAV_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def memories() -> list[dict[str, Any]]:
    return [dict(row) for row in MEMORIES]


@pytest.fixture
def queries() -> list[dict[str, Any]]:
    return [dict(row) for row in QUERIES]


@pytest.fixture
def write() -> Write:
    """Write rows as JSON lines; return the path."""

    def written(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return written


@pytest.fixture
def files(tmp_path: Path, write: Write) -> list[Path]:
    """The small suite in two files."""
    return [write(tmp_path / "memories.jsonl", MEMORIES), write(tmp_path / "queries.jsonl", QUERIES)]


@pytest.fixture
def olav() -> Run:
    """Run `olav … --json`, expect `code`, and return the object on stdout."""

    def run(*words: object, code: int = 0) -> dict[str, Any]:
        done = CliRunner().invoke(main, [*map(str, words), "--json"], prog_name="olav")
        assert done.exit_code == code, (done.output, done.exception)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


@pytest.fixture
def native(olav: Run, files: list[Path]) -> Run:
    """Run the small suite under the hashing embedder."""

    def run(*words: object, code: int = 0) -> dict[str, Any]:
        return olav("bench", "run", "native", *files, "--embedder", "hashing", *words, code=code)

    return run
