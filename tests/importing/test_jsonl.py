"""Memories as JSON lines."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olav_core import ImportFaultsError, WorkspaceError, read_jsonl


def test_lines_become_drafts_with_their_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    rows = [
        {"text": "R1 是边界", "category": "fact", "tags": ["R1"], "metadata": {"source": "a.csv"}},
        {"text": "CHG-1 approved", "category": "decision", "scope": "netops", "confidence": 0.5},
    ]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(json.dumps(row) for row in rows).encode() + b"\n")
    first, second = read_jsonl(path)
    assert (first.text, first.tags, first.metadata, first.line) == (
        "R1 是边界",
        ("R1",),
        {"source": "a.csv"},
        1,
    )
    assert (second.scope, second.confidence, second.line) == ("netops", 0.5, 3)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"text": "x", "category": "fact", "scoep": "a"}', "Did you mean 'scope'?"),
        (b'{"text": "x"}', "'category' must be a string"),
        (b'{"text": 7, "category": "fact"}', "'text' must be a string"),
        (b'{"text": "x", "category": "fact", "metadata": []}', "'metadata' must be an object"),
        (b'{"text": "x", "category": "fact", "tags": "R1"}', "'tags' must be a list"),
        (b'{"text": "x", "category": "fact", "line": 3}', "unknown field 'line'"),
        (b'{"text": "x"', "not JSON"),
        (b"[1]", "a list where an object is needed"),
        (b'{"text": "\xff", "category": "fact"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, line: bytes, said: str) -> None:
    path = tmp_path / "memories.jsonl"
    path.write_bytes(b'{"text": "good", "category": "fact"}\n' + line + b"\n\n" + line)
    with pytest.raises(ImportFaultsError) as caught:
        read_jsonl(path)
    assert said in str(caught.value)
    assert [fault.line for fault in caught.value.faults] == [2, 4]


def test_a_missing_file_is_an_error_of_the_workspace(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be read"):
        read_jsonl(tmp_path / "none.jsonl")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_drafts_or_faults(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "any.jsonl"
    path.write_bytes(raw)
    with suppress(ImportFaultsError):
        assert all(isinstance(draft.text, str) for draft in read_jsonl(path))
