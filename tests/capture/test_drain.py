"""The drain: nothing acknowledged is lost, nothing is counted twice, whatever fails or dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from olav_core import EmbedderError, EmbedderUnavailableError, Memory, RecordError
from olav_core.capture import drainer

CHILD = Path(__file__).with_name("capture_child.py")


def child(*args: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, str(CHILD), *map(str, args)], stdout=subprocess.PIPE, text=True)


def counts(memory: Memory) -> dict[int, int]:
    rows = memory.list(category="operational_event")
    return {row.metadata["args"]["n"]: row.metadata["count"] for row in rows}


def test_events_are_stored_in_the_background(memory: Memory) -> None:
    for n in range(40):  # a full segment wakes the thread
        memory.capture(tool="create_user", args={"n": n}, result="ok")
    deadline = time.monotonic() + 30
    while len(counts(memory)) < 40 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(counts(memory)) == 40


def test_closing_stores_what_waits(open_again: Callable[..., Memory]) -> None:
    memory = open_again()
    for n in range(3):
        memory.capture(tool="create_user", args={"n": n}, result="ok")
    memory.close()
    assert set(counts(open_again())) == {0, 1, 2}


def test_a_process_that_ends_without_closing_stores_what_waits(
    open_again: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = open_again()
    process = child("end", tmp_path, 0, 5)
    assert process.wait(60) == 0
    assert set(counts(memory)) == set(range(5))


def test_kill_9_loses_no_acknowledged_event(open_again: Callable[..., Memory], tmp_path: Path) -> None:
    open_again().close()
    process = child("hang", tmp_path, 0, 75)
    assert process.stdout
    acknowledged = [int(process.stdout.readline()) for _ in range(75)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    memory = open_again()
    memory.recall("create user")  # the next process that recalls stores them
    memory.captures.drain()
    assert counts(memory) == dict.fromkeys(acknowledged, 1)


def test_several_processes_capture_and_drain_at_once(
    open_again: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = open_again()
    processes = [child("end", tmp_path, 0, 60) for _ in range(3)]  # the same sixty operations
    for n in range(60):
        memory.capture(tool="create_user", args={"n": n}, result="ok")
    memory.captures.drain()
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    memory.captures.drain()
    assert counts(memory) == dict.fromkeys(range(60), 4)


def test_a_death_between_storing_and_forgetting_counts_nothing_twice(
    memory: Memory, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        memory.capture(tool="create_user", args={"n": n}, result="ok")
    with monkeypatch.context() as patched:
        patched.setattr("olav_core.capture.spool.Spool.remove", lambda *_: None)
        assert memory.captures.drain().stored == 3
    report = memory.captures.drain()
    assert (report.stored, report.repeated, report.known) == (0, 0, 3)
    assert counts(memory) == {0: 1, 1: 1, 2: 1}
    assert not list(spool.glob("[0-9]*.jsonl"))


def test_events_wait_while_the_embedder_is_down(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: Any, **__: Any) -> Any:
        raise EmbedderUnavailableError("it is down")

    monkeypatch.setattr(type(memory.embedder), "passages_each", down)
    for n in range(40):
        assert memory.capture(tool="create_user", args={"n": n}, result="ok")
    assert "it is down" in memory.captures.drain().error
    status = memory.captures.status()
    assert (status["waiting"], status["failed"]) == (40, 0)
    assert "it is down" in status["last_error"]
    monkeypatch.undo()
    assert memory.captures.drain().stored == 40
    assert memory.captures.status()["last_error"] == ""


def test_one_event_that_is_refused_is_kept_and_the_others_are_stored(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    passages = type(memory.embedder).passages_each

    def refusing(self: Any, texts: list[str], **options: Any) -> Any:
        vectors = passages(self, texts, **options)
        return [
            EmbedderError("not this one") if "n 3" in text else vector
            for text, vector in zip(texts, vectors, strict=True)
        ]

    monkeypatch.setattr(type(memory.embedder), "passages_each", refusing)
    for n in range(10):
        memory.capture(tool="create_user", args={"n": n}, result="ok")
    report = memory.captures.drain()
    assert (report.stored, report.failed, report.error) == (9, 1, "")
    status = memory.captures.status()
    assert status["failed"] == 1
    assert "not this one" in status["failures"][0]["error"]
    assert memory.captures.drain().failed == 0  # it is not tried again by itself
    monkeypatch.undo()
    assert memory.captures.drain(retry_failed=True).stored == 1
    assert set(counts(memory)) == set(range(10))
    assert memory.captures.status()["failed"] == 0


def test_an_event_that_breaks_the_batch_is_singled_out(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_events = drainer.store_events

    def breaking(memory: Memory, events: Any) -> Any:
        if any(event.args["n"] == 3 for event in events):
            raise ZeroDivisionError("a bug")
        return store_events(memory, events)

    monkeypatch.setattr(drainer, "store_events", breaking)
    for n in range(6):
        memory.capture(tool="create_user", args={"n": n}, result="ok")
    report = memory.captures.drain()
    assert (report.stored, report.failed) == (5, 1)
    assert "a bug" in memory.captures.status()["failures"][0]["error"]


def test_torn_and_foreign_lines_keep_nothing_out(memory: Memory, spool: Path) -> None:
    assert memory.capture(tool="create_user", args={"n": 1}, result="ok")
    memory.captures.spool.seal()
    (segment,) = spool.glob("[0-9]*.jsonl")
    whole = segment.read_bytes()
    segment.write_bytes(b'{"v": 9}\nno json\n' + whole + whole[:40])
    report = memory.captures.drain()
    assert (report.stored, report.failed) == (1, 2)
    assert memory.captures.status()["failed"] == 2


def test_threads_capture_at_once(memory: Memory) -> None:
    def work(start: int) -> None:
        for n in range(start, start + 50):
            memory.capture(tool="create_user", args={"n": n}, result="ok")

    threads = [threading.Thread(target=work, args=(50 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.captures.drain()
    assert counts(memory) == dict.fromkeys(range(200), 1)


def test_a_forked_child_writes_a_segment_of_its_own(memory: Memory) -> None:
    memory.capture(tool="create_user", args={"n": 0}, result="ok")
    spool = memory.captures.spool
    pid = os.fork()
    if not pid:
        try:
            line = memory.captures.spool.append(b"{}\n")
            os._exit(0 if line == 1 else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert spool.open_lines == 1


def test_a_capture_after_closing_is_refused_or_waits(open_again: Callable[..., Memory], spool: Path) -> None:
    memory = open_again()
    memory.close()
    memory.capture(tool="create_user", args={"n": 1}, result="ok")
    memory.captures.spool.seal()
    later = open_again()
    assert later.captures.drain().stored == 1


def test_a_record_that_the_category_refuses_is_a_failure(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise RecordError("not like this")

    memory.capture(tool="create_user", args={"n": 1}, result="ok")
    monkeypatch.setattr(memory, "prepare", refuse)
    assert memory.captures.drain().failed == 1
