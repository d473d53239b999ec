"""A full disk and a folder that may not be written: what was stored stays, recall goes on, errors say why.

A full disk is a limit on file sizes (RLIMIT_FSIZE) here: a mount of its own needs root. It meets larger
writes, compaction and the index, while small files still go through.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import killing
import pytest

import olav_core
from olav_core.doctor.examination import examine


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    killing.new_workspace(tmp_path / "w")
    return tmp_path / "w"


def test_a_full_disk_loses_nothing_and_heals_by_itself(workspace: Path) -> None:
    with killing.running("full disk", workspace, 1) as (process, pipe):
        said = killing.heard(pipe)
        process.join()
    assert [words[1] for words in said if words[0] == "raised"] == []
    assert process.exitcode == 0
    told = {words[0]: words[1:] for words in said if words[0] not in ("try", "done")}
    done = {words[1] for words in said if words[0] == "done"}
    name, message = told["refused"]
    assert name == "StoreError"
    assert "File too large" in message
    assert "File too large" in " ".join(told["maintenance, full"][0])
    assert told["recalled, full"][0] > 0
    assert told["maintenance, freed"] == ([],)
    with olav_core.open(workspace) as memory:
        texts = [record.text for record in memory.list()]
        assert done <= set(texts)
        assert len(texts) == len(set(texts)) == len(done) + 1
        assert memory.index_coverage().rows == len(texts)
    errors = [item for item in examine(workspace).findings if item.level == "error"]
    assert [item for item in errors if item.check not in killing.ABOUT_THE_MACHINE] == []


@pytest.fixture
def closed(workspace: Path) -> Iterator[Path]:
    """The workspace with every write permission taken away, as on a read-only mount."""
    with olav_core.open(workspace) as memory:
        memory.remember_many(
            [olav_core.Draft(text=f"interface {n} flapped", category="fact") for n in range(80)]
        )
        memory.recall("interface 7 flapped")
    paths = [workspace, *workspace.rglob("*")]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in paths}
    for path in paths:
        path.chmod(modes[path] & 0o555)
    yield workspace
    for path in paths:
        path.chmod(modes[path])


def test_a_folder_that_may_not_be_written_is_read_and_left_alone(closed: Path) -> None:
    before = {str(path): path.read_bytes() for path in closed.rglob("*") if path.is_file()}
    child = Path(__file__).with_name("reader_without_rights.py")
    done = subprocess.run(
        [sys.executable, str(child), str(closed)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OLAV_CACHE_DIR": str(closed / "nowhere")},
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["recalled"][0] == "interface 7 flapped"
    assert told["degraded"] == []
    assert told["rows"] == 81
    assert told["refused"][0] == "StoreError"
    assert "may write" in told["refused"][1]
    assert ["folders", "error"] in told["findings"]
    assert ["rows", "ok"] in told["findings"]
    assert {str(path): path.read_bytes() for path in closed.rglob("*") if path.is_file()} == before
