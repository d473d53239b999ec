"""CASES 30: a secret in any field of a memory is masked before it is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_case_30_a_scope_that_spells_a_secret_is_refused(tmp_path: Path) -> None:
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        for act in (
            lambda: memory.remember("a fact", scope=f"token={SECRET}"),
            lambda: memory.capture(tool="push_config", scope=SECRET),
        ):
            with pytest.raises(olav_core.RecordError, match="looks like a secret") as raised:
                act()
            assert SECRET not in str(raised.value)
        assert memory.remember("a fact", scope="tenant/acme-7f3e9b1c").created


def test_case_30_the_spool_holds_no_secret_of_any_field(tmp_path: Path) -> None:
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        memory.capture(
            tool=f"push_config --token={SECRET}",
            args={"note": f"token={SECRET}"},
            result=f"token={SECRET}",
            agent=f"token={SECRET}",
            run=f"token={SECRET}",
            call=f"token={SECRET}",
            scope="netops",
        )
        spooled = [file.read_text() for file in (tmp_path / ".olav" / "spool").glob("*.jsonl")]
    assert spooled
    assert SECRET not in "".join(spooled)


def test_case_30_a_key_that_spells_a_secret_is_masked_in_the_spool_and_in_errors(tmp_path: Path) -> None:
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        memory.capture(
            tool="push_config", args={SECRET: 1, "x": {f"token={SECRET}": "v"}}, result={SECRET: 2}
        )
        memory.captures.spool.seal()
        spooled = "".join(file.read_text() for file in (tmp_path / ".olav" / "spool").glob("*.jsonl"))
        with pytest.raises(olav_core.RecordError) as raised:
            memory.remember("a fact", metadata={SECRET: 1})
        memory.captures.drain()
        (event,) = memory.list(category="operational_event")
    assert spooled
    assert SECRET not in spooled + str(raised.value) + repr(event)
