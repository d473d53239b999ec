"""The folder of the drafts: one process at a time, and faults told as what they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from olav_core import StoreError
from olav_core.drafts.folder import DraftFolder


def test_a_fault_elsewhere_is_not_told_as_the_folders(tmp_path: Path) -> None:
    folder = DraftFolder(tmp_path)
    with pytest.raises(StoreError) as told, folder.locked():
        raise OSError(28, "No space left on device", "/elsewhere/guide.yaml")
    assert "No space left on device: '/elsewhere/guide.yaml'" in str(told.value)
    assert str(folder.path) not in str(told.value)
    (tmp_path / ".curator_drafts" / ".lock").unlink()
    (tmp_path / ".curator_drafts" / ".lock").mkdir()
    with pytest.raises(StoreError, match="curator_drafts cannot be written"), folder.locked():
        pass


def test_a_link_to_nothing_is_no_draft_and_the_oldest_comes_first(tmp_path: Path) -> None:
    folder = DraftFolder(tmp_path)
    with folder.locked():
        for age, intent in ((20, "b"), (10, "c"), (30, "入库")):
            folder.draft_path(intent).write_text("{}", "utf-8")
            os.utime(folder.draft_path(intent), (age, age))
        folder.draft_path("gone").symlink_to(tmp_path / "nowhere")
    assert folder.intents() == ["c", "b", "入库"]
