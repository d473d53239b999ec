"""Maintenance by itself: when it is due, one at a time, off the caller's path, and loud when it fails."""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import olav_core
from olav_core import MemoryRecord
from olav_core.cli.main import main
from olav_core.store import maintenance, upkeep
from olav_core.store.store import Store

DUE = 6


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(str(tmp_path / "memory.lance"), json.dumps({"dimension": 8})) as opened:
        opened.upkeep.due_versions = DUE
        yield opened


def write(store: Store, count: int, start: int = 0) -> None:
    for n in range(start, start + count):
        text = f"text {n}"
        store.upsert(
            [MemoryRecord(id=f"fact:{n}", text=text, search_text=text, category="fact")], np.ones((1, 8))
        )


def versions(store: Store) -> int:
    return store.upkeep.versions()["memory"]


def test_it_runs_after_so_many_versions_and_keeps_every_row(store: Store) -> None:
    write(store, 40)
    store.upkeep.wait()
    assert versions(store) < 2 * DUE + upkeep.LOOK_EVERY
    assert store.count() == 40
    assert store.upkeep.state().at > 0


def test_a_bare_store_leaves_it_to_its_owner(tmp_path: Path) -> None:
    with Store.create(str(tmp_path / "memory.lance"), json.dumps({"dimension": 8})) as store:
        write(store, 20)
        store.close()
        assert versions(store) >= 20


def test_many_short_processes_are_maintained_too(tmp_path: Path) -> None:
    """A command that writes once and ends looks at its first commit."""
    uri = str(tmp_path / "memory.lance")
    Store.create(uri, json.dumps({"dimension": 8})).close()
    for n in range(25):
        with Store.open(uri) as store:
            store.upkeep.due_versions = DUE
            write(store, 1, start=n)
    with Store.open(uri) as store:
        assert versions(store) < 2 * DUE
        assert store.count() == 25


def test_the_writer_does_not_wait_for_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    go, running = threading.Event(), threading.Event()

    def slow(_store: Store) -> maintenance.MaintenanceReport:
        running.set()
        assert go.wait(60)
        return maintenance.MaintenanceReport()

    monkeypatch.setattr(upkeep, "optimize", slow)
    write(store, 3 * DUE)
    assert running.wait(60)
    write(store, 10, start=100)
    assert store.count() == 3 * DUE + 10
    go.set()
    store.upkeep.wait()


def _hold(uri: str, connection: Any) -> None:
    store = Store.open(uri)

    def hold(_store: Store) -> maintenance.MaintenanceReport:
        connection.send("holding")
        connection.recv()
        return maintenance.MaintenanceReport()

    store.upkeep.run(hold)


def test_one_process_at_a_time(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    other = context.Process(target=_hold, args=(store.uri, there))
    other.start()
    try:
        assert here.recv() == "holding"
        write(store, 3 * DUE)
        store.upkeep.wait()
        assert versions(store) > 3 * DUE
    finally:
        here.send("go")
        other.join()
    write(store, DUE + upkeep.LOOK_EVERY, start=100)
    store.upkeep.wait()
    assert versions(store) < 2 * DUE


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    compact = maintenance._compact

    def fail(store: Store, name: str, older_than: Any) -> int:
        if name == "memory":
            raise OSError("no space left on device")
        return compact(store, name, older_than)

    monkeypatch.setattr(maintenance, "_compact", fail)
    return lambda: monkeypatch.setattr(maintenance, "_compact", compact)


def test_a_failure_is_told_everywhere_and_not_tried_at_every_write(
    store: Store, failing: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    write(store, 5 * DUE)
    store.upkeep.wait()
    write(store, 5 * DUE, start=100)
    store.upkeep.wait()
    state = Store.open(store.uri).upkeep.state()  # as another process sees it
    assert state.failed_in_a_row == 1
    assert state.failures == ("compact table memory: no space left on device",)
    assert "no space left on device" in caplog.text
    assert not store.upkeep.due()


def test_it_is_tried_again_later_and_a_success_clears_the_failure(
    store: Store, failing: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "RETRY_FIRST", 0.0)
    write(store, 5 * DUE)
    store.upkeep.wait()
    assert store.upkeep.state().failed_in_a_row > 1
    failing()
    write(store, upkeep.LOOK_EVERY, start=100)
    store.upkeep.wait()
    assert store.upkeep.state().failures == ()
    assert versions(store) < DUE


def test_waits_double_up_to_a_bound() -> None:
    waits = [upkeep.UpkeepState(at=0.0, failures=("x",), failed_in_a_row=n).next_try for n in (1, 2, 3, 40)]
    assert waits == [30.0, 60.0, 120.0, 3600.0]


def test_versions_that_may_not_go_do_not_make_it_run_for_ever(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.table.tags.create("mine", store.version)
    write(store, 5 * DUE)
    store.upkeep.wait()
    runs: list[int] = []
    monkeypatch.setattr(upkeep, "optimize", lambda _: runs.append(1) or maintenance.MaintenanceReport())
    write(store, DUE - 2, start=100)
    store.upkeep.wait()
    assert len(runs) <= 1
    store.table.checkout("mine")
    assert store.table.count_rows() == 0


def test_a_lost_race_is_tried_again_and_then_wins(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    real = type(store.table).optimize

    def lose(table: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) <= 4:
            raise RuntimeError("Retryable commit conflict for version 7")
        return real(table, **options)

    monkeypatch.setattr(type(store.table), "optimize", lose)
    store.upkeep.due_versions = 0
    write(store, DUE)
    assert store.optimize().failures == ()
    assert versions(store) == 1


def test_the_index_is_caught_up_on_the_way(tmp_path: Path) -> None:
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        memory.store.upkeep.due_versions = DUE
        memory.recall("anything")
        for n in range(3 * DUE):
            memory.remember(f"interface {n} flapped", category="fact")
        memory.store.upkeep.wait()
        assert memory.index.coverage().lexical_rows > 0


def test_a_failure_shows_in_the_status(tmp_path: Path) -> None:
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        memory.store.upkeep.run(lambda _: maintenance.MaintenanceReport(failures=("disk full",)))
        assert memory.status()["maintenance"]["failures"] == ("disk full",)
    shown = CliRunner().invoke(main, ["kb", "status", "-w", str(tmp_path)])
    assert "Maintenance failed: disk full" in shown.stdout


def test_maintain_after_zero_turns_it_off(tmp_path: Path) -> None:
    olav_core.init(tmp_path, embedder="hashing").close()
    config = tmp_path / ".olav" / "config.yaml"
    config.write_text(config.read_text() + "store: {maintain_after: 0}\n")
    with olav_core.open(tmp_path) as memory:
        assert memory.store.upkeep.due_versions == 0
