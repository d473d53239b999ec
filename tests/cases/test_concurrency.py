"""Cases 36, 48 and their kind: many processes, threads and event loops on one workspace."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from case_workspace import Make, fill, texts_of

import olav_core
from olav_core import Memory

CHILD = """
import sys
import olav_core
with olav_core.open(sys.argv[1]) as memory:
    for line in sys.stdin:
        verb, _, text = line.strip().partition(" ")
        if verb == "remember":
            print(memory.remember(text).id, flush=True)
        elif verb == "forget":
            print(memory.forget(text), flush=True)
        elif verb == "optimize":
            memory.optimize()
            print("done", flush=True)
"""


@pytest.fixture
def other(memory: Memory) -> Callable[[str], str]:
    """Another process with the same workspace: send it a line, get its answer."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(memory.workspace.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def send(line: str) -> str:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(line + "\n")
        child.stdin.flush()
        return child.stdout.readline().strip()

    yield send
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    child.wait(30)
    child.stdout.close()


def test_case_36_what_another_process_writes_or_erases_is_seen_at_once(
    memory: Memory, other: Callable[[str], str]
) -> None:
    memory.remember("router r0 is in rack 0")
    assert len(memory.recall("router").items) == 1
    for number in range(1, 6):
        id = other(f"remember router r{number} is in rack {number}")
        for recall in (
            memory.recall(f"router r{number}", limit=1),
            memory.search(f"router r{number}", limit=1),
        ):
            assert texts_of(recall) == [f"router r{number} is in rack {number}"]
        assert memory.get(id).text == f"router r{number} is in rack {number}"
        assert len(memory.list()) == number + 1
        assert memory.status()["rows"] == number + 1
    assert other("optimize") == "done"
    assert texts_of(memory.recall("router r3", limit=1)) == ["router r3 is in rack 3"]
    gone = memory.recall("router r3", limit=1).items[0].id
    assert other(f"forget {gone}") == gone
    assert "router r3 is in rack 3" not in texts_of(memory.recall("router r3", limit=50))
    assert "r3" not in memory.enrich([{"role": "user", "content": "router r3"}])[-1]["content"].replace(
        "router r3", ""
    )


def test_case_36_two_memories_of_one_process_see_each_other(memory: Memory) -> None:
    with olav_core.open(memory.workspace.root) as second:
        for number in range(20):
            writer, reader = (memory, second) if number % 2 else (second, memory)
            stored = writer.remember(f"note n{number} of the day")
            assert reader.recall(f"note n{number}", limit=1).items[0].id == stored.id
            assert not reader.remember(f"note n{number} of the day").created


def test_forty_recalls_and_writes_at_once_lose_and_mix_nothing(memory: Memory) -> None:
    fill(memory, [f"unit u{number} stands in room {number % 7}" for number in range(200)])
    errors: list[BaseException] = []
    shown: list[str] = []
    lock = threading.Lock()
    barrier = threading.Barrier(40)

    def work(number: int) -> None:
        try:
            barrier.wait(30)
            for step in range(3):
                if number % 4 == 0:
                    memory.remember(f"new unit x{number}-{step} arrived")
                elif number % 10 == 1:
                    victim = memory.remember(f"short lived {number}-{step}")
                    beside = memory.recall("short lived", limit=2)
                    with lock:
                        shown.extend(item.id for item in beside.items)
                    memory.forget(victim.id)
                own = number * 5 % 200
                recall = memory.recall(f"unit u{own} stands in room", limit=1)
                assert recall.degraded == (), recall.degraded
                assert texts_of(recall) == [f"unit u{own} stands in room {own % 7}"]
                with lock:
                    shown.extend(item.id for item in recall.items)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[:3]
    stored = {record.text for record in memory.list()}
    assert {f"new unit x{number}-{step} arrived" for number in range(0, 40, 4) for step in range(3)} < stored
    assert not [text for text in stored if text.startswith("short lived")]
    assert len(stored) == 230
    memory.optimize()
    counts = {record.id: record.access_count for record in memory.list()}
    for id in set(shown) & set(counts):
        assert counts[id] == shown.count(id)


LOADS = """
import time, threading
from pathlib import Path
import numpy as np
from olav_core import EmbedderSpec, ModelIdentity, hookimpl

class Slow:
    identity = ModelIdentity(name="slow", revision="1")
    def __init__(self, options):
        self.trace = Path(options["trace"])
        time.sleep(0.2)
        with self.trace.open("a") as file:
            file.write("loaded\\n")
    def embed_passages(self, texts):
        return np.array([[len(text), 1, text.count("a")] for text in texts], np.float32)
    embed_queries = embed_passages

@hookimpl
def olav_register_embedders():
    return [EmbedderSpec(id="slow", title="Slow to load", factory=Slow)]
"""


def test_case_48_first_use_by_threads_and_event_loops_at_once_loads_once(make: Make, tmp_path: Path) -> None:
    trace = tmp_path / "loads"
    memory = make(embedder="slow", plugins={"olav_slow": LOADS}, options={"trace": str(trace)})
    memory.remember("a banana")
    root = memory.workspace.root
    memory.close()
    trace.write_text("")
    with olav_core.open(root) as fresh:

        async def both() -> list[int]:
            recalls = await asyncio.gather(*(fresh.arecall("a banana") for _ in range(4)))
            await fresh.aremember("a pear")
            return [len(recall.items) for recall in recalls]

        def loop() -> list[int]:
            return asyncio.run(both())

        with ThreadPoolExecutor(8) as pool:
            loops = [pool.submit(loop) for _ in range(2)]
            threads = [pool.submit(fresh.recall, "a banana") for _ in range(6)]
            assert [future.result(60) for future in loops]
            assert all(future.result(60).items for future in threads)
    assert trace.read_text().count("loaded") == 1


def test_case_48_the_asynchronous_twins_do_the_same_and_do_not_block_the_loop(memory: Memory) -> None:
    async def run() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticker = asyncio.create_task(tick())
        stored = await memory.aremember("the border router is r1", category="fact")
        recall = await memory.arecall("border router", tier="small")
        messages = await memory.aenrich([{"role": "user", "content": "border router"}], tier="small")
        ticker.cancel()
        assert stored.created
        assert texts_of(recall) == ["the border router is r1"]
        assert recall.to_dict()["block"] == memory.recall("border router", tier="small").to_dict()["block"]
        assert messages == memory.enrich([{"role": "user", "content": "border router"}], tier="small")
        assert ticks > 3

    asyncio.run(run())


def test_a_closed_memory_says_that_it_is_closed(memory: Memory) -> None:
    memory.close()
    memory.close()
    for call in (lambda: memory.recall("x"), lambda: memory.search("x"), lambda: memory.remember("x")):
        with pytest.raises(olav_core.StoreError, match="closed"):
            call()


def test_status_survives_files_that_vanish_while_it_counts(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("the border router is r1")
    doomed = memory.workspace.database / "vanishing.tmp"
    doomed.write_bytes(b"x")
    walk = os.walk

    def walking(top: object, **options: object) -> object:
        for step in walk(top, **options):  # type: ignore[call-overload]
            doomed.unlink(missing_ok=True)
            yield step

    is_file = Path.is_file

    def looked_at(path: Path) -> bool:
        found = is_file(path)
        if path == doomed:
            doomed.unlink()
        return found

    monkeypatch.setattr(os, "walk", walking)
    monkeypatch.setattr(Path, "is_file", looked_at)
    assert memory.status()["bytes"] > 0
    assert not doomed.exists()
