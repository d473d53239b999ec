"""CASES 30: a secret in any field of a memory is masked before it is stored."""

from __future__ import annotations

from pathlib import Path

import olav_core

SECRET = "ghp_" + "a1B2" * 9


def test_case_30_text_metadata_and_tags_are_masked(tmp_path: Path) -> None:
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        made = memory.remember(
            f"the token is {SECRET}",
            metadata={"subject": f"token={SECRET}"},
            tags=[f"token={SECRET}", "plain"],
        )
        record = memory.get(made.id)
        shown = memory.recall("the token", tier="large").block
    assert SECRET not in repr(record) + shown
    assert "plain" in record.tags
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()
