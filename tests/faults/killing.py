"""Kill a real process at a random moment, again and again in one workspace, and look at what is left.

benchmarks/bench_faults.py runs the same with many tries.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import victim
from attrs import Factory, define

import olav_core
from olav_core import EmbeddingSpaceMismatchError, Memory
from olav_core.doctor.examination import examine

#: Loaded once in the server that the victims are forked from, so that a try costs no imports.
PRELOAD = [
    "lancedb",
    "numpy",
    "onnx",
    "pyarrow",
    "tantivy",
    "yaml",
    "olav_core.importing.directory",
    "olav_core.index.index",
    "olav_core.memory",
    "olav_core.opening",
    "olav_core.recall.pipeline",
    "olav_core.store.reembed",
    "olav_core.store.store",
]
#: Seconds after the start of the work within which the kill falls: about two rounds of each action.
SPAN = {
    "write": 0.5,
    "batch import": 0.6,
    "index catch-up": 0.6,
    "optimize": 0.6,
    "re-embed": 0.8,
    "e5 conversion": 2.5,
}
#: Checks of `olav doctor` that say nothing about the workspace.
ABOUT_THE_MACHINE = {"plug-ins", "entry points", "disk space"}


@define
class Tally:
    """What happened to the data of one action's tries; `faults` are sentences."""

    tries: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    invented: int = 0
    faults: list[str] = Factory(list)

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.invented or self.faults)


def context() -> ForkServerContext:
    """The server that victims are forked from; the process-wide one of multiprocessing."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(PRELOAD)
    with patch.dict(os.environ, PYTHONWARNINGS="ignore"):  # lancedb warns at every fork
        forkserver.ensure_running()
    return found


@contextmanager
def running(action: str, folder: Path, attempt: int) -> Iterator[tuple[Any, Any]]:
    """A victim at work, and the pipe it speaks on; it is dead afterwards."""
    ours, theirs = context().Pipe(duplex=False)
    process = context().Process(target=victim.live, args=(action, str(folder), attempt, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()
        ours.close()


@contextmanager
def many(action: str, folder: Path, count: int) -> Iterator[tuple[list[Any], list[Any]]]:
    """Several victims at once, and their pipes."""
    with ExitStack() as stack:
        pairs = [stack.enter_context(running(action, folder, n)) for n in range(count)]
        yield [process for process, _ in pairs], [pipe for _, pipe in pairs]


def heard(pipe: Any) -> list[tuple[Any, ...]]:
    """Everything that a victim says until it ends."""
    said = []
    try:
        while pipe.poll(120):
            said.append(pipe.recv())
    except EOFError:
        pass
    return said


def kill_at(action: str, folder: Path, attempt: int, moment: float) -> list[tuple[Any, ...]]:
    """Start the action, kill -9 it `moment` seconds into its work, and return what it said."""
    with running(action, folder, attempt) as (process, pipe):
        if not pipe.poll(60):
            raise AssertionError(f"{action} did not start")
        said = [pipe.recv()]
        deadline = time.monotonic() + moment
        while (left := deadline - time.monotonic()) > 0 and process.is_alive():
            if pipe.poll(left):  # the pipe is emptied meanwhile, so that the victim never waits for us
                try:
                    said.append(pipe.recv())
                except EOFError:
                    break
        process.kill()
        process.join()
        said += heard(pipe)
    raised = [words[1] for words in said if words[0] == "raised"]
    if raised:
        raise AssertionError(f"{action} failed before it was killed:\n{raised[0]}")
    return said


def new_workspace(folder: Path) -> None:
    with olav_core.init(folder, embedder="hashing", options={"dimension": 64}) as memory:
        memory.remember("interface xe-0/0 was there before")


def trials(action: str, folder: Path, tries: int, seed: int, *, examine_every: int = 5) -> Tally:
    """Kill `action` at `tries` random moments in one workspace, and check after each."""
    dice = random.Random(f"{seed} {action}")
    if action == "e5 conversion":
        return conversion_trials(folder, tries, dice)
    new_workspace(folder)
    tally, tried, done = Tally(), set[str](), {"interface xe-0/0 was there before"}
    for attempt in range(1, tries + 1):
        said = kill_at(action, folder, attempt, dice.uniform(0, SPAN[action]))
        tried |= {words[1] for words in said if words[0] == "try"}
        done |= {words[1] for words in said if words[0] == "done"}
        tally.tries += 1
        check_rows(action, folder, tried, done, tally)
        if attempt % examine_every == 0 or attempt == tries:
            findings = examine(folder).findings
            tally.faults += [
                f"doctor, {item.check}: {item.what}" for item in findings if item.level == "error"
            ]
    tally.acknowledged = len(done)
    return tally


def race_trials(folder: Path, tries: int, processes: int) -> Tally:
    """Let processes write the same memories at once, with maintenance coming due, and count the rows.

    An index on `id` is there, which makes the engine's own merges double rows without a word.
    """
    from lancedb.index import BTree

    tally = Tally()
    for attempt in range(tries):
        place = folder / str(attempt)
        new_workspace(place)
        with olav_core.open(place) as memory:
            memory.store.table.create_index("id", config=BTree())
        with many("same keys", place, processes) as (victims, pipes):
            said = [words for pipe in pipes for words in heard(pipe)]
            for victim in victims:
                victim.join()
        tally.faults += [words[1] for words in said if words[0] == "raised"]
        codes = [victim.exitcode for victim in victims]
        if codes != [0] * processes:
            tally.faults.append(f"a process ended with {codes}")
        with olav_core.open(place) as memory:
            rows = Counter(memory.store.scan(["text"]).column("text").to_pylist())
            assert {"id_idx"} <= {index.name for index in memory.store.table.list_indices()}
        done = {words[1] for words in said if words[0] == "done"}
        created = Counter(words[1] for words in said if words[0] == "created")
        tally.tries += 1
        tally.acknowledged += len(done)
        tally.lost += len(done - set(rows))
        tally.doubled += sum(count - 1 for count in rows.values())
        if created != Counter(done):  # each was created by exactly one of them
            tally.faults.append(f"created by other than one process: {created - Counter(done)}")
    return tally


def check_rows(action: str, folder: Path, tried: set[str], done: set[str], tally: Tally) -> None:
    """Compare what is stored and what is indexed with what was acknowledged and what was tried."""
    with olav_core.open(folder) as memory:
        if action == "re-embed":
            finish_move(memory)
        rows = memory.store.scan(["id", "text", "scope", "metadata"]).to_pylist()
        tally.doubled += sum(n - 1 for n in Counter(row["id"] for row in rows).values())
        if action == "batch import":
            check_guides(memory, rows, tried, done, tally)
        else:
            stored = {row["text"] for row in rows}
            tally.lost += len(done - stored)
            tally.invented += len(stored - tried - done)
        check_index(memory, rows, tally)


def check_guides(
    memory: Memory, rows: list[dict[str, Any]], tried: set[str], done: set[str], tally: Tally
) -> None:
    """A folder that was acknowledged is whole; one that was cut off is completed by importing it again."""
    intents = {json.loads(row["metadata"] or "{}").get("intent") for row in rows}
    for folder in map(Path, sorted(done - {"interface xe-0/0 was there before"})):
        tally.lost += len(intents_of(folder) - intents)
    tally.invented += len(intents - {None} - set().union(*map(intents_of, map(Path, tried)), set()))
    for folder in map(Path, sorted(tried - done)):
        assert not memory.import_guides(folder).faults
        stored = [json.loads(value or "{}").get("intent") for value in metadata(memory)]
        tally.lost += len(intents_of(folder) - set(stored))
        tally.doubled += sum(n - 1 for intent, n in Counter(stored).items() if intent)
        done.add(str(folder))


def intents_of(folder: Path) -> set[str]:
    return {f"guide {path.name.partition('.')[0]}" for path in folder.glob("*.guide.yaml")}


def metadata(memory: Memory) -> list[str]:
    memory.store.refresh()
    found: list[str] = memory.store.scan(["metadata"])["metadata"].to_pylist()
    return found


def finish_move(memory: Memory) -> None:
    """Run the move again when the kill fell between the switch and the configuration."""
    try:
        memory.check_space()
    except EmbeddingSpaceMismatchError:
        dimension = memory.embedder.dimension
        memory.reembed("hashing", {"dimension": dimension})


def check_index(memory: Memory, rows: list[dict[str, Any]], tally: Tally) -> None:
    """After a sync the index has every row, and each of a few rows is found by its own text."""
    memory.index.sync()
    coverage = memory.index.coverage()
    stored = memory.store.count()
    if coverage.rows != stored:
        tally.faults.append(f"{coverage.rows} of {stored} rows resident")
    if coverage.lexical_rows + coverage.lexical_behind < stored:
        tally.faults.append(f"{coverage.lexical_rows}+{coverage.lexical_behind} of {stored} rows lexical")
    for row in rows[:: max(1, len(rows) // 3)]:
        found = memory.search(row["text"], scopes=[row["scope"]], limit=3)
        if row["id"] not in {item.id for item in found.items}:
            tally.faults.append(f"{row['id']} is not found by its own text: {found.degraded}")


def conversion_trials(folder: Path, tries: int, dice: random.Random) -> Tally:
    """After a kill there is no model or a whole one; the next start makes it without help."""
    from olav_e5.cache import FILES, _describe, _known, _source

    tally = Tally()
    for attempt in range(tries):
        said = kill_at("e5 conversion", folder, attempt, dice.uniform(0, SPAN["e5 conversion"]))
        tally.tries += 1
        found = _known(folder / "e5", _source())
        if ("done", "model") in said:
            tally.acknowledged += 1
            tally.lost += found is None
        if found is not None:
            recorded = json.loads((found.directory / "manifest.json").read_text())["files"]
            for name in FILES:
                if _describe(found.directory / name)["sha256"] != recorded[name]["sha256"]:
                    tally.faults.append(f"{name} is not what was built")
            (found.directory / "manifest.json").unlink()  # so that the next try builds again
    with running("e5 conversion", folder, tries) as (process, _):
        process.join(120)
    if _known(folder / "e5", _source()) is None:
        tally.faults.append("the conversion was not completed by the next start")
    if list((folder / "e5").glob("building-*")):
        tally.faults.append("half-built folders lie about")
    return tally
