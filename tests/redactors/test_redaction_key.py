"""The key behind the marks: made once, private, never in a workspace, and redaction goes on without it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import WORD

SCRIPT = """
import sys
from olav_core import build_registry
print(build_registry().redactors["secrets"].redact("password=" + sys.argv[1])[0])
"""


def start(**environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, WORD],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outputs(*processes: subprocess.Popen[str]) -> list[tuple[str, str]]:
    return [process.communicate(timeout=60) for process in processes]


def test_processes_that_race_for_the_key_agree_on_it(tmp_path: Path) -> None:
    key = tmp_path / "keys" / "redaction.key"
    marks = {out for out, _ in outputs(*(start(OLAV_REDACTION_KEY_FILE=str(key)) for _ in range(4)))}
    assert len(marks) == 1
    assert WORD not in marks.pop()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert [path.name for path in key.parent.iterdir()] == [key.name]


def test_another_key_makes_other_marks(tmp_path: Path) -> None:
    (one, _), (two, _), (again, _) = outputs(
        *(start(OLAV_REDACTION_KEY_FILE=str(tmp_path / name)) for name in ("one", "two"))
    ) + outputs(start(OLAV_REDACTION_KEY_FILE=str(tmp_path / "one")))
    assert one == again != two


def test_the_default_place_is_the_users_configuration(tmp_path: Path) -> None:
    environment = {"OLAV_REDACTION_KEY_FILE": "", "XDG_CONFIG_HOME": str(tmp_path)}
    outputs(start(**environment))
    assert (tmp_path / "olav" / "redaction.key").is_file()


@pytest.mark.parametrize("content", [b"", b"short"])
def test_a_damaged_key_file_is_left_alone_and_said(tmp_path: Path, content: bytes) -> None:
    key = tmp_path / "redaction.key"
    key.write_bytes(content)
    ((out, err),) = outputs(start(OLAV_REDACTION_KEY_FILE=str(key)))
    assert "<redacted:password:" in out
    assert "OLAV_REDACTION_KEY_FILE" in err
    assert WORD not in out + err
    assert key.read_bytes() == content


def test_without_a_place_for_the_key_redaction_goes_on(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    ((out, err),) = outputs(start(OLAV_REDACTION_KEY_FILE=str(blocked / "redaction.key")))
    assert "<redacted:password:" in out
    assert str(blocked) in err
