"""What a process does until it is killed.

Every function gets the workspace, the number of its try and a pipe, and tells over it what it is about to do
(`try`) and what was acknowledged (`done`).
"""

from __future__ import annotations

import itertools
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Send = Callable[[tuple[Any, ...]], None]


@contextmanager
def opened(folder: Path) -> Iterator[Any]:
    import olav_core

    with olav_core.open(folder) as memory:
        # often, so that kills meet the maintenance that runs by itself too
        memory.store.upkeep.due_versions = 12
        yield memory


def text(attempt: int, n: int) -> str:
    return f"interface xe-{attempt}/{n} of router r{n % 7} carries vlan {attempt * 1000 + n}"


def write(folder: Path, attempt: int, send: Send) -> None:
    """One memory at a time."""
    with opened(folder) as memory:
        send(("go",))
        for n in itertools.count():
            send(("try", text(attempt, n)))
            memory.remember(text(attempt, n))
            send(("done", text(attempt, n)))


GUIDE = """schema_version: 1
agent: netops
intent: guide {name}
keywords: [counter{name}]
body: |
  Before step {name}, look at counter {name} of the device.
"""


def batch_import(folder: Path, attempt: int, send: Send) -> None:
    """Folder after folder of guides."""
    with opened(folder) as memory:
        send(("go",))
        for n in itertools.count():
            files = folder / "guides" / f"{attempt}-{n}"
            files.mkdir(parents=True)
            for guide in range(25):
                name = f"{attempt}x{n}x{guide}"
                (files / f"{name}.guide.yaml").write_text(GUIDE.format(name=name))
            send(("try", str(files)))
            assert not memory.import_guides(files).faults
            send(("done", str(files)))


def catch_up(folder: Path, attempt: int, send: Send) -> None:
    """Batches that the index must commit, and the commit."""
    from olav_core import Draft

    with opened(folder) as memory:
        send(("go",))
        for n in itertools.count():
            texts = [text(attempt, n * 100 + k) for k in range(100)]
            for item in texts:
                send(("try", item))
            memory.remember_many([Draft(text=item, category="fact") for item in texts])
            for item in texts:
                send(("done", item))
            memory.index.sync()
            memory.index.flush()


def optimize(folder: Path, attempt: int, send: Send) -> None:
    """Small writes, counted recalls and maintenance in turn."""
    with opened(folder) as memory:
        send(("go",))
        for n in itertools.count():
            send(("try", text(attempt, n)))
            memory.remember(text(attempt, n))
            send(("done", text(attempt, n)))
            memory.recall(text(attempt, n))
            memory.optimize()


def reembed(folder: Path, attempt: int, send: Send) -> None:
    """From one dimension to the other and back, without an end."""
    with opened(folder) as memory:
        send(("go",))
        for n in itertools.count():
            send(("try", text(attempt, n)))
            memory.remember(text(attempt, n))
            send(("done", text(attempt, n)))
            memory.reembed("hashing", {"dimension": 96 if memory.store.dimension == 64 else 64})


def convert(folder: Path, attempt: int, send: Send) -> None:
    """The one-time conversion of the e5 model."""
    os.environ["OLAV_CACHE_DIR"] = str(folder)
    from olav_e5.cache import converted

    send(("go",))
    converted()
    send(("done", "model"))


def full_disk(folder: Path, attempt: int, send: Send) -> None:
    """Writes, then a limit that larger ones and compaction run into, then none."""
    import resource

    from olav_core import Draft, OlavError

    def drafts(series: int, count: int) -> list[Draft]:
        return [Draft(text=text(series, n), category="fact") for n in range(count)]

    with opened(folder) as memory:
        memory.store.upkeep.due_versions = 0
        memory.remember_many(drafts(1, 500))
        many = drafts(2, 500)
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, most))
        try:
            memory.remember_many(many)
        except OlavError as error:
            send(("refused", type(error).__name__, str(error)))
        for draft in drafts(3, 10):
            memory.remember(draft.text)
        send(("maintenance, full", list(memory.optimize().failures)))
        send(("recalled, full", len(memory.recall(text(3, 3)).items)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        memory.remember_many(many)
        for draft in [*drafts(1, 500), *many, *drafts(3, 10)]:
            send(("done", draft.text))
        send(("maintenance, freed", list(memory.optimize().failures)))


def same_keys(folder: Path, attempt: int, send: Send) -> None:
    """What every other process writes too."""
    from olav_core import Draft

    with opened(folder) as memory:
        send(("go",))
        for n in range(6):
            texts = [f"interface xe-0/{n}/{k} carries vlan {k}" for k in range(5)]
            outcomes = memory.remember_many([Draft(text=item, category="fact") for item in texts])
            for outcome, item in zip(outcomes, texts, strict=True):
                send(("done", item))
                if outcome.created:
                    send(("created", item))


def read(folder: Path, attempt: int, send: Send) -> None:
    """Recall without an end."""
    from olav_core import EmbeddingSpaceMismatchError

    with opened(folder) as memory:
        while True:
            try:
                found = memory.search("interface 7 flapped", limit=5)
                outcome = "found" if len(found.items) == 5 and not found.degraded else str(found.degraded)
            except EmbeddingSpaceMismatchError as error:
                outcome = type(error).__name__
            memory.store.refresh()
            send(("rows", memory.store.count(), outcome))


def live(action: str, folder: str, attempt: int, connection: Any) -> None:
    """Run one action; what it prints goes nowhere."""
    import warnings

    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        ACTIONS[action](Path(folder), attempt, connection.send)
    except Exception:
        connection.send(("raised", traceback.format_exc()))
        raise


ACTIONS: dict[str, Callable[[Path, int, Send], None]] = {
    "write": write,
    "batch import": batch_import,
    "index catch-up": catch_up,
    "optimize": optimize,
    "re-embed": reembed,
    "e5 conversion": convert,
    "full disk": full_disk,
    "same keys": same_keys,
    "read": read,
}
