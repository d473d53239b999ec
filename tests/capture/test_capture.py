"""From a call to a row: one row per operation, redacted, without what recall put into the prompt."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import olav_core
from olav_core import (
    CaptureError,
    Finding,
    Memory,
    MemoryRecord,
    PluginError,
    RecordError,
    RedactorSpec,
    build_registry,
    hookimpl,
)
from olav_core.host.discovery import find_refs


def events(memory: Memory, **where: Any) -> list[MemoryRecord]:
    """What is stored, once everything that waits is."""
    report = memory.captures.drain()
    assert not report.error
    assert not report.failed
    return memory.list(category="operational_event", **where)


class Redactor:
    """Masks `hunter2` everywhere, or fails."""

    def __init__(self) -> None:
        self.broken = False

    @hookimpl
    def olav_register_redactors(self) -> list[RedactorSpec]:
        return [RedactorSpec(id="test_secret", purpose="p", redact=self._redact)]

    def _redact(self, value: Any) -> tuple[Any, list[Finding]]:
        if self.broken:
            raise RuntimeError("hunter2")
        masked = json.loads(json.dumps(value).replace("hunter2", "<redacted:test>"))
        return masked, [Finding("test")] if masked != value else []


# --- what becomes a row ---------------------------------------------------------------------------


def test_a_captured_call_is_a_row_that_recall_finds(memory: Memory) -> None:
    captured = memory.capture(
        tool="netops.push_config",
        args={"device": "core-sw-2", "lines": ["vlan 20"]},
        result="ok",
        agent="netops",
        run="run-1",
    )
    assert captured
    (row,) = events(memory)
    assert row.id == captured.id
    assert (row.scope, row.origin, row.tags) == ("netops", "agent", ("push",))
    assert row.text == (
        'Action: netops.push_config\nArgs: {"device": "core-sw-2", "lines": ["vlan 20"]}\nResult: ok'
    )
    assert row.metadata["run"] == "run-1"
    assert captured.id in memory.recall("push vlan 20 to core-sw-2", agent="netops").block
    assert captured.id not in memory.recall("push vlan 20 to core-sw-2", agent="billing").block


@pytest.mark.parametrize(
    "call",
    [
        {"tool": "list_users", "result": []},
        {"tool": "create_user", "result": {"status": "failed"}},
        {"tool": "create_user", "result": "ok", "status": "error"},
        {"tool": "create_user", "result": "User rejected the tool call"},
        {"tool": "olav_recall_memory", "result": "ok", "mark": True},
    ],
)
def test_reads_failures_and_refusals_leave_nothing(memory: Memory, spool: Path, call: dict[str, Any]) -> None:
    assert memory.capture(**call) is None
    assert not spool.exists()
    assert events(memory) == []


def test_the_same_operation_is_one_row_with_a_count_and_a_last_time(memory: Memory) -> None:
    start = datetime(2026, 4, 1, tzinfo=UTC)
    ids = set()
    for n in range(4):
        captured = memory.capture(
            tool="deploy_lab",
            args={"lab": "clos", "request_id": f"r-{n}"},
            result={"nodes": 3, "request_id": f"r-{n}", "took_ms": 100 + n, "at": f"2026-04-01T10:00:0{n}Z"},
            time=start + timedelta(hours=n),
        )
        assert captured
        ids.add(captured.id)
        if n % 2:
            events(memory)
    (row,) = events(memory)
    assert ids == {row.id}
    assert row.metadata["count"] == 4
    assert row.timestamp == start + timedelta(hours=3)
    assert "request_id" not in row.metadata["args"]
    memory.capture(tool="deploy_lab", args={"lab": "ring"}, result={"nodes": 3})
    assert len(events(memory)) == 2


def test_seen_again_nothing_is_embedded(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[str] = []
    passages = type(memory.embedder).passages_each

    def counting(self: Any, texts: list[str], **options: Any) -> Any:
        embedded.extend(texts)
        return passages(self, texts, **options)

    monkeypatch.setattr(type(memory.embedder), "passages_each", counting)
    for n in range(3):
        memory.capture(
            tool="create_user", args={"name": "li"}, result=f"Created li at 2026-04-01 10:00:0{n} in {n}.5s"
        )
        events(memory)
    assert len(embedded) == 1
    memory.capture(tool="create_user", args={"name": "li"}, result="Created li with role admin")
    (row,) = events(memory)
    assert len(embedded) == 2  # another outcome is other content
    assert "role admin" in row.text
    assert row.metadata["count"] == 4


def test_a_call_that_is_told_twice_counts_once(open_again: Callable[..., Memory]) -> None:
    memory = open_again()
    for _ in range(2):
        memory.capture(tool="create_user", args={"name": "li"}, result="ok", run="thread-1", call="c1")
    events(memory)
    memory.close()
    later = open_again()  # the second turn of the thread tells its first again
    later.capture(tool="create_user", args={"name": "li"}, result="ok", run="thread-1", call="c1")
    (row,) = events(later)
    assert row.metadata["count"] == 1
    later.capture(tool="create_user", args={"name": "li"}, result="ok", run="thread-1", call="c2")
    (row,) = events(later)
    assert row.metadata["count"] == 2


def test_the_moment_of_the_call_in_its_arguments_is_no_part_of_it(memory: Memory) -> None:
    now = datetime.now(UTC)
    for seconds in (0, 20):
        memory.capture(
            tool="record_metric",
            args={"name": "cpu", "timestamp": (now + timedelta(seconds=seconds)).isoformat()},
        )
    for day in (24, 25):
        memory.capture(tool="schedule_change", args={"timestamp": f"2030-12-{day}T02:00:00Z"})
    assert sorted(row.metadata["tool"] for row in events(memory)) == [
        "record_metric",
        "schedule_change",
        "schedule_change",
    ]


def test_scopes_are_the_agents_own_unless_told(open_again: Callable[..., Memory]) -> None:
    memory = open_again()
    memory.capture(tool="create_user", args={"n": 1}, agent="user_1")
    memory.capture(tool="create_user", args={"n": 1}, agent="userA1")
    memory.capture(tool="create_user", args={"n": 1}, agent="user_1", scope="team:ops")
    assert sorted(row.scope for row in events(memory)) == ["team:ops", "userA1", "user_1"]
    shared = open_again(scope="global")
    shared.capture(tool="create_user", args={"n": 2}, agent="user_1")
    assert len(events(shared, scopes=["global"])) == 1


# --- shapes ---------------------------------------------------------------------------------------


class Message:
    content = "stored"


@pytest.mark.parametrize(
    "result",
    [
        None,
        "",
        "ok",
        42,
        3.5,
        float("nan"),
        b"\xff\x00",
        {"a": {1, 2}},
        [{"type": "text", "text": "one"}, {"type": "image", "source": {"data": "A" * 100_000}}],
        [{"type": "image_url", "image_url": {"url": "data:…"}}],
        Message(),
        object(),
        "x" * 10_000_000,
        {"rows": [{"n": n, "text": "y" * 50} for n in range(100_000)]},
        "\ud800 lone \x00",
        {"nested": [[[[[[[[[[[[[["deep"]]]]]]]]]]]]]]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_results_of_any_shape_are_captured_within_bounds(memory: Memory, spool: Path, result: Any) -> None:
    assert memory.capture(tool="save_file", args={"path": "a"}, result=result)
    assert sum(path.stat().st_size for path in spool.glob("*.jsonl")) < 40_000
    (row,) = events(memory)
    assert len(row.text) < 4_000
    assert "AAAA" not in json.dumps(row.metadata)


def test_a_value_that_holds_itself_is_cut_off(memory: Memory) -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert memory.capture(tool="save_file", args=loop, result=loop)
    assert len(events(memory)) == 1


@pytest.mark.parametrize("args", [None, {}, "", '{"name": "li"}', "plain words", ["a", "b"], 7], ids=repr)
def test_arguments_of_any_shape(memory: Memory, args: Any) -> None:
    assert memory.capture(tool="create_user", args=args, result="ok")
    (row,) = events(memory)
    assert isinstance(row.metadata["args"], dict)


def test_two_long_texts_are_two_operations(memory: Memory) -> None:
    for end in ("one", "two"):
        memory.capture(tool="write_file", args={"path": "a", "content": "word " * 5_000 + end}, result="ok")
    rows = events(memory)
    assert len(rows) == 2
    for row in rows:
        assert "sha256" in row.metadata["args"]["content"]
        assert len(row.metadata["args"]["content"]) < 5_000
        assert '"path": "a"' in row.text


@pytest.mark.parametrize("wrong", [{"tool": ""}, {"tool": 3}, {"scope": " x "}, {"time": "yesterday"}])
def test_a_wrong_call_is_told(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        memory.capture(**{"tool": "create_user", "result": "ok", **wrong})


# --- what must not get in -------------------------------------------------------------------------


def test_secrets_are_masked_before_anything_is_written(tmp_path: Path, spool: Path) -> None:
    redactor = Redactor()
    with olav_core.init(
        tmp_path, embedder="hashing", registry=build_registry([*find_refs(), redactor])
    ) as memory:
        captured = memory.capture(
            tool="create_user",
            args={"name": "li", "password": "hunter2", "nested": '{"pwd": "hunter2"}'},
            result="user li / hunter2",
        )
        assert captured
        assert captured.findings == (Finding("test"),)
        assert b"hunter2" not in b"".join(path.read_bytes() for path in spool.iterdir())
        (row,) = events(memory)
        assert row.id == captured.id
        assert "hunter2" not in repr(row)

        redactor.broken = True
        with pytest.raises(PluginError) as raised:
            memory.capture(tool="create_user", args={"password": "hunter2"}, result="ok")
        assert "hunter2" not in str(raised.value)
        status = memory.captures.status()
        assert status["failed"] == 1
        assert status["failures"][0]["tool"] == "create_user"
        assert b"hunter2" not in b"".join(path.read_bytes() for path in spool.iterdir())


def test_a_recalled_block_does_not_come_back(memory: Memory) -> None:
    memory.remember("The VPN gateway is 10.0.0.1")
    block = memory.recall("VPN gateway").block
    assert block
    for _ in range(5):
        memory.capture(tool="write_note", args={"text": f"{block}\n\nsummary"}, result=f"saved\n{block}")
    memory.capture(tool="write_note", args={"text": f"{block[:-30]}"}, result="saved")
    rows = events(memory)
    assert len(rows) == 2
    assert not any("10.0.0.1" in repr(row) for row in rows)


def test_what_was_erased_does_not_come_back_through_a_tool(memory: Memory) -> None:
    text = "The master key lies in the blue safe."
    memory.forget(memory.remember(text).id)
    memory.capture(tool="write_note", args={"text": text}, result="saved")
    memory.capture(
        tool="save_page", args={"title": "x"}, result=f"notes:\n- {text}\n- water the plants every friday"
    )
    rows = events(memory)
    assert len(rows) == 2
    assert not any("blue safe" in repr(row) for row in rows)
    assert any("water the plants" in row.text for row in rows)


def test_an_erased_event_stays_erased(memory: Memory) -> None:
    first = memory.capture(tool="create_user", args={"name": "li"}, result="id 1")
    assert first
    events(memory)
    memory.forget(first.id)
    assert memory.capture(tool="create_user", args={"name": "li"}, result="id 2")
    report = memory.captures.drain()
    assert (report.stored, report.erased) == (0, 1)
    assert events(memory) == []


# --- settings -------------------------------------------------------------------------------------


def test_capture_can_be_switched_off(open_again: Callable[..., Memory], spool: Path) -> None:
    memory = open_again(enabled=False)
    assert memory.capture(tool="create_user", result="ok") is None
    assert memory.captures.status()["enabled"] is False
    assert not spool.exists()


def test_without_its_category_nothing_is_captured(
    open_again: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLAV_DISABLE", "operational_event")
    assert open_again().capture(tool="create_user", result="ok") is None


def test_a_full_spool_pushes_back_and_says_so(
    open_again: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_again(spool_mb=1)
    monkeypatch.setattr(type(memory.embedder), "passages_each", unavailable)
    body = {f"k{n}": "word " * 700 for n in range(4)}

    def fill() -> None:
        for n in range(2_000):
            memory.capture(tool="write_file", args={"n": n, **body}, result="ok")

    with pytest.raises(CaptureError, match="olav capture status"):
        fill()
    status = memory.captures.status()
    assert status["failed"] >= 1
    assert "EmbedderUnavailableError" in status["last_error"]
    waiting = status["waiting"]
    monkeypatch.undo()
    assert memory.captures.drain().stored == waiting  # there is room again, and nothing was lost
    assert memory.capture(tool="write_file", args={"n": -1}, result="ok")


def unavailable(*_: Any, **__: Any) -> Any:
    from olav_core import EmbedderUnavailableError

    raise EmbedderUnavailableError("it is down")


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_a_spool_that_is_no_folder_stops_captures_but_no_recall(
    open_again: Callable[..., Memory], spool: Path, kind: str
) -> None:
    open_again()  # makes the workspace
    shutil.rmtree(spool, ignore_errors=True)
    spool.write_text("") if kind == "file" else spool.symlink_to(spool.parent / "nowhere" / "deep")
    memory = open_again()
    memory.remember("R1 is the border router")
    assert memory.recall("border router").items
    with pytest.raises(CaptureError, match="spool"):
        memory.capture(tool="push_config")
