"""A workspace with the hashing embedder and one memory of every kind of trouble on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import olav_core
from olav_core.doctor import plugins
from olav_core.doctor.diagnosis import Diagnosis
from olav_core.doctor.examination import examine


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OLAV_WORKSPACE", "OLAV_DISABLE", "OLAV_STRICT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(plugins, "stale_entry_points", dict)  # what this machine has installed is no matter
    with olav_core.init(tmp_path / "w", embedder="hashing") as memory:
        memory.remember("R1 is the border router in Shanghai")
    return tmp_path / "w"


@pytest.fixture
def found(workspace: Path) -> Callable[..., list[Diagnosis]]:
    """The findings of one check, of one level on request."""

    def look(check: str, level: str | None = None) -> list[Diagnosis]:
        findings = examine(workspace).findings
        return [item for item in findings if item.check == check and level in (None, item.level)]

    return look
