"""When maintenance runs by itself: after so many commits, in the background, in one process at a time."""

from __future__ import annotations

import atexit
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import asdict, field, frozen

from olav_core.atomic_write import write_atomically
from olav_core.store import tables
from olav_core.store.lock import LockHeldError, WriteLock, local_path
from olav_core.store.maintenance import MaintenanceReport, optimize

if TYPE_CHECKING:
    from olav_core.store.store import Store

#: Compaction rewrites the table (0.4 s at 100,000 rows): larger ones wait for more commits than
#: `store.maintain_after`, up to DUE_MOST.
ROWS_PER_VERSION, DUE_MOST = 1000, 128
#: Own commits between two looks (50 µs each, in the background); the first commit of a process looks too.
LOOK_EVERY = 4
#: Seconds until the next try after a failure, doubled with each, and the longest wait.
RETRY_FIRST, RETRY_LONGEST = 30.0, 3600.0
_log = logging.getLogger("olav")
_upkeeps: weakref.WeakSet[Upkeep] = weakref.WeakSet()


@frozen(kw_only=True)
class UpkeepState:
    """How maintenance went last, in any process: `at` in epoch seconds (0: never), `seconds` it took,
    `failures` as sentences, `failed_in_a_row` runs with failures since the last without, `left` versions by
    table that it could not clean up (tagged, or streamed by somebody)."""

    at: float = 0.0
    seconds: float = 0.0
    failures: tuple[str, ...] = ()
    failed_in_a_row: int = 0
    left: Mapping[str, int] = field(factory=dict)

    @property
    def next_try(self) -> float:
        """Epoch seconds before which a failure is not tried again by itself."""
        if not self.failed_in_a_row:
            return 0.0
        return self.at + min(RETRY_LONGEST, RETRY_FIRST * 2.0 ** (self.failed_in_a_row - 1))


class Upkeep:
    """Maintenance of one open store. `due_versions=0` (as a bare Store has it) turns it off.

    The state lies in `<database directory>.upkeep.json`, so that a failure in one process shows in another's
    `olav doctor`; on a remote URI every process knows only its own.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        directory = local_path(store.uri)
        self._tables = directory
        self._state_path = directory and directory.with_name(f"{directory.name}.upkeep.json")
        self._turn = WriteLock.beside(store.uri, "upkeep")
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._own_handle: Store | None = None
        self._commits = 0
        self._state = UpkeepState()
        self.due_versions = 0
        #: Called after every run that was due, in the background.
        self.then: Callable[[], None] = lambda: None
        _upkeeps.add(self)

    def committed(self) -> None:
        """Note a commit of this process; starts a look in the background now and then. Costs nothing else."""
        if not self.due_versions:
            return
        with self._lock:
            self._commits += 1
            if self._commits % LOOK_EVERY != 1 or self._worker is not None:
                return
            self._worker = threading.Thread(target=self._look, name="olav-upkeep", daemon=True)
            self._worker.start()

    def run(self, action: Callable[[Store], MaintenanceReport]) -> MaintenanceReport:
        """Run maintenance now, after one that is under way in any process, and keep its outcome."""
        with self._turn.exclusive():
            return self._recorded(self._store, action)

    def state(self) -> UpkeepState:
        """How it went last, in any process."""
        if self._state_path is None:
            return self._state
        try:
            values = json.loads(self._state_path.read_text("utf-8"))
            return UpkeepState(**{**values, "failures": tuple(values["failures"])})
        except FileNotFoundError:
            return self._state
        except (OSError, ValueError, TypeError, KeyError) as error:
            return UpkeepState(failures=(f"{self._state_path} cannot be read: {error}",))

    def versions(self) -> dict[str, int]:
        """Versions by table."""
        names = tables.table_names(self._store.database)
        if self._tables is None:
            return {name: len(self._store.database.open_table(name).list_versions()) for name in names}
        counts = {}
        for name in names:
            with suppress(FileNotFoundError):
                found = os.listdir(self._tables / f"{name}.lance" / "_versions")
                counts[name] = sum(entry.endswith(".manifest") for entry in found)
        return counts

    def due(self) -> bool:
        """Whether any table got enough versions since the last run, and a failure is not too fresh."""
        state, rows = self.state(), self._store.count()
        limit = max(self.due_versions, min(DUE_MOST, rows // ROWS_PER_VERSION))
        news = [count - state.left.get(name, 0) for name, count in self.versions().items()]
        return max(news, default=0) >= limit and time.time() >= state.next_try

    def wait(self) -> None:
        """Wait for what runs in the background."""
        with self._lock:
            worker = self._worker
        if worker is not None:
            worker.join()

    def _look(self) -> None:
        try:
            if self.due():
                with suppress(LockHeldError), self._turn.exclusive(wait=False):
                    if self.due():  # nobody else did it meanwhile
                        self._recorded(self._handle(), optimize)
                        self.then()
        except Exception as error:
            _log.warning("maintenance of %s could not run: %s", self._store.uri, error)
        finally:
            with self._lock:
                self._worker = None

    def _handle(self) -> Store:
        # A handle of its own: the versions that other threads read must not move under them.
        if self._own_handle is None:
            self._own_handle = self._store.again()
        return self._own_handle

    def _recorded(self, store: Store, action: Callable[[Store], MaintenanceReport]) -> MaintenanceReport:
        began, before = time.time(), self.state()
        report = action(store)
        failed = before.failed_in_a_row + 1 if report.failures else 0
        state = UpkeepState(
            at=began,
            seconds=round(time.time() - began, 3),
            failures=report.failures,
            failed_in_a_row=failed,
            left=before.left if failed else self.versions(),
        )
        for failure in report.failures:
            _log.warning("maintenance of %s, failure %d in a row: %s", store.uri, failed, failure)
        self._state = state
        if self._state_path is not None:
            try:
                write_atomically(self._state_path, json.dumps(asdict(state)))
            except OSError as error:
                _log.warning("the outcome of maintenance could not be kept: %s", error)
        return report


@atexit.register
def _finish() -> None:
    for upkeep in list(_upkeeps):
        upkeep.wait()
