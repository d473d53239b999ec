"""The drainer: takes the spool's segments to the store, when asked and in the background."""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from olav_core.capture.drain_report import DrainReport
from olav_core.capture.event import Event
from olav_core.capture.event_rows import WAITING, Failures, store_events
from olav_core.capture.spool import SEGMENT_EVENTS, Spool
from olav_core.errors import OlavError, RecordError

if TYPE_CHECKING:
    from olav_core.memory import Memory

_log = logging.getLogger(__name__)
#: An event waits at most this long for others to share its batch.
DRAIN_SECONDS: Final = 1.0
#: The longest rest after failures; it doubles each time, so that an embedder that is down is left alone.
MAX_RETRY_SECONDS: Final = 60.0
#: How long a drain that was asked for waits for another process that drains.
WAIT_SECONDS: Final = 5.0
_SETTLE_SECONDS: Final = 0.05
#: Rounds without work after which the thread ends; the next event starts it again.
_IDLE_ROUNDS: Final = 5


class Drainer:
    """Drains one spool into one memory. Thread-safe; one process at a time drains, whoever gets there."""

    def __init__(self, memory: Memory, spool: Spool) -> None:
        self._memory = memory
        self._spool = spool
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._at_exit = _if_alive(weakref.WeakMethod(self._close_at_exit))

    # --- when asked -----------------------------------------------------------------------------

    def drain(self, *, wait_seconds: float = WAIT_SECONDS, retry_failed: bool = False) -> DrainReport:
        """Store what waits of every writer that is finished; returns what was done.

        Never raises for a store or an embedder that fails: the events stay, and `error` says why.
        """
        report = DrainReport()
        self._spool.seal()
        if not self._spool.waiting() and not (retry_failed and self._spool.failed.read()):
            return report
        with self._spool.draining(wait_seconds=wait_seconds) as mine:
            if not mine:
                report.error = "another process drains the spool"
                return report
            if retry_failed:
                self._respool_failed()
            for path, lines in self._spool.finished():
                report.add(self._segment(lines))
                if report.error:
                    break
                self._spool.remove(path)
        self._spool.note_error(report.error)
        return report

    def note_failure(self, tool: str, error: OlavError, event: Event | None = None) -> None:
        """Keep what could not be captured or stored; without `event` only that it happened."""
        entry = {
            "time": datetime.now(UTC).isoformat(),
            "tool": tool,
            "error": f"{type(error).__name__}: {error}",
        }
        if event is not None:
            entry["event"] = event.to_line().decode("ascii").strip()
        try:
            self._spool.failed.add(entry)
        except OSError as problem:
            _log.error(
                "a call of %s was not captured (%s), nor could that be noted: %s", tool, error, problem
            )

    def _segment(self, lines: Sequence[bytes]) -> DrainReport:
        report = DrainReport()
        events: list[Event] = []
        for line in lines:
            try:
                events.append(Event.from_line(line))
            except RecordError as error:
                report.failed += 1
                self.note_failure("", error)
        for start in range(0, len(events), SEGMENT_EVENTS):
            done, failures = self._batch(events[start : start + SEGMENT_EVENTS])
            for event, refusal in failures:
                self.note_failure(event.tool, refusal, event)
            report.add(done)
            if report.error:
                break
        return report

    def _batch(self, events: Sequence[Event]) -> tuple[DrainReport, Failures]:
        try:
            return store_events(self._memory, events)
        except WAITING as error:
            return DrainReport(error=f"{type(error).__name__}: {error}"), []
        except Exception as error:
            if len(events) == 1:
                return DrainReport(failed=1), [(events[0], RecordError(f"storing it failed with {error!r}."))]
            _log.warning(
                "a batch of %d captured calls failed: %r; they are stored singly", len(events), error
            )
        report, failures = DrainReport(), []
        for single in events:  # one that breaks something must not keep the others out for ever
            done, refused = self._batch([single])
            report.add(done)
            failures += refused
            if report.error:
                break
        return report, failures

    def _respool_failed(self) -> None:
        """Failed lines that hold an event wait again; those without one are only a count, and stay."""
        for entry in self._spool.failed.take():
            if isinstance(entry.get("event"), str):
                self._spool.append(entry["event"].encode("ascii", "replace") + b"\n")
            else:
                self._spool.failed.add(entry)
        self._spool.seal()

    # --- in the background ----------------------------------------------------------------------

    def start(self, *, now: bool = False) -> None:
        """Let the background thread drain soon, or `now`."""
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closing:
                    self._wake.clear()
                    self._thread = threading.Thread(target=self._work, name="olav-capture", daemon=True)
                    self._thread.start()
                    atexit.unregister(self._at_exit)
                    atexit.register(self._at_exit)
        if now:
            self._wake.set()

    def _work(self) -> None:
        rest, idle = DRAIN_SECONDS, 0
        while not self._closing:
            self._wake.wait(rest)
            self._wake.clear()
            if self._closing:
                return
            try:
                error = self.drain(wait_seconds=0).error
            except Exception as problem:  # the thread must outlive whatever a store throws
                _log.exception("draining captured calls failed")
                error = repr(problem)
            rest = min(rest * 2, MAX_RETRY_SECONDS) if error else DRAIN_SECONDS
            idle = 0 if error or self._spool.open_lines else idle + 1
            if idle >= _IDLE_ROUNDS:
                with self._lock:
                    if not self._spool.open_lines:
                        self._thread = None
                        return

    def close(self) -> None:
        """Store what waits if that is possible now; what is left waits for a later process."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
            thread = self._thread
        atexit.unregister(self._at_exit)
        self._wake.set()
        if thread is not None:
            thread.join()
        if thread is not None or self._spool.open_lines:
            self.drain()

    def _close_at_exit(self) -> None:
        self.close()
        # A thread of the engine that still holds the interpreter when it goes aborts or hangs the process
        # (1 of 30 short-lived processes); they let go within microseconds of their last answer.
        time.sleep(_SETTLE_SECONDS)

    def after_fork(self) -> None:
        """In a child process: no thread runs there, and the parent's locks are nobody's."""
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread = None
        with suppress(Exception):
            atexit.unregister(self._at_exit)


def _if_alive(method: weakref.WeakMethod[Any]) -> Callable[[], None]:
    def call() -> None:
        bound = method()
        if bound is not None:
            bound()

    return call
