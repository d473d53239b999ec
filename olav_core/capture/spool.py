"""The spool: captured calls on disk, acknowledged when written, until they are stored.

`.olav/spool/` holds segments of at most SEGMENT_EVENTS lines. Each writer appends to a segment of its own and
holds an flock on it while it may still write; a segment whose lock can be had is finished, whether its writer
sealed it or died. So any process can tell what may be drained, and a killed one leaves nothing stuck.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Final

from attrs import frozen

from olav_core.atomic_write import write_atomically
from olav_core.capture.failed_lines import FailedLines
from olav_core.errors import CaptureError

#: A full segment is one batch of the drain: one embedding call, one commit.
SEGMENT_EVENTS: Final = 32
SUFFIX: Final = ".jsonl"
_OPENING: Final = ".opening-"
_LOCK: Final = "drain.lock"
_LAST_ERROR: Final = "last_error.txt"
#: How long a rewrite waits for another process that drains.
WAIT_SECONDS: Final = 5.0


@frozen
class Backlog:
    """What waits: finished and open segments, their size, the age of the oldest in seconds, failed lines."""

    segments: int
    events: int
    bytes: int
    oldest_seconds: float
    failed: int


class Spool:
    """Appends lines from many threads and processes. `max_bytes` bounds what waits, failed lines included."""

    def __init__(self, directory: Path, *, max_bytes: int, durable: bool = False) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        self.durable = durable
        self.failed = FailedLines(directory / f"failed{SUFFIX}")
        #: Called in a child process after a fork.
        self.on_fork: Callable[[], None] | None = None
        self._forget_segment()
        _SPOOLS.add(self)

    def _forget_segment(self) -> None:
        self._lock = Lock()
        self._descriptor: int | None = None
        self._lines = 0

    def _after_fork(self) -> None:
        """The parent goes on with its segment; the child begins its own."""
        descriptor = self._descriptor
        self._forget_segment()
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)
        if self.on_fork is not None:
            self.on_fork()

    # --- writing ----------------------------------------------------------------------------------

    def append(self, line: bytes) -> int:
        """Write one line, newline included; returns how many the open segment then has.

        When this returns, a kill of the process loses nothing; with `durable` neither does a power cut.
        Raises CaptureError when the spool is full or the disk refuses.
        """
        with self._lock:
            try:
                if self._descriptor is None:
                    self._descriptor = self._open_segment(len(line))
                descriptor = self._descriptor
                start = os.lseek(descriptor, 0, os.SEEK_END)
                if os.write(descriptor, line) != len(line):
                    os.ftruncate(descriptor, start)
                    raise OSError(28, "the line was only written in part")
                if self.durable:
                    os.fdatasync(descriptor)
            except OSError as error:
                raise CaptureError(
                    f"the spool {self.directory} cannot be written: {error.strerror}. Free space, or check "
                    "its permissions; the call was not captured."
                ) from error
            self._lines += 1
            lines = self._lines
            if lines >= SEGMENT_EVENTS:
                self._seal()
            return lines

    def seal(self) -> None:
        """Finish the open segment, so that it can be drained."""
        with self._lock:
            self._seal()

    @property
    def open_lines(self) -> int:
        """Lines in the segment that this process still writes."""
        return self._lines

    def _seal(self) -> None:
        descriptor, self._descriptor, self._lines = self._descriptor, None, 0
        if descriptor is not None:
            os.close(descriptor)

    def _open_segment(self, wanted: int) -> int:
        self.directory.mkdir(parents=True, exist_ok=True)
        waiting = self.backlog(count=False).bytes
        if waiting + wanted > self.max_bytes:
            raise CaptureError(
                f"the spool {self.directory} is full: {waiting:,} of {self.max_bytes:,} bytes wait. "
                "`olav capture status` says what holds them up; the call was not captured."
            )
        while True:
            name = f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(3)}{SUFFIX}"
            opening = self.directory / f"{_OPENING}{name}"
            descriptor = os.open(
                opening, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600
            )
            try:
                # Locked under a name that no drain looks at: a segment that can be seen is locked.
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                opening.rename(self.directory / name)
            except FileNotFoundError:  # swept away between the two: begin again
                os.close(descriptor)
                continue
            except BaseException:
                os.close(descriptor)
                raise
            return descriptor

    # --- draining ---------------------------------------------------------------------------------

    @contextmanager
    def draining(self, *, wait_seconds: float = 0.0) -> Iterator[bool]:
        """Hold the right to drain, which one process has at a time; gives False when another keeps it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + wait_seconds
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        yield False
                        return
                    time.sleep(0.02)
                else:
                    yield True
                    return
        finally:
            os.close(descriptor)

    def finished(self) -> Iterator[tuple[Path, list[bytes]]]:
        """Yield (path, lines) of each finished segment, oldest first, without a line that a death cut off.

        For the holder of `draining`. A segment stays until `remove(path)`.
        """
        self._sweep()
        for path in self._segments():
            lines = self._read_finished(path)
            if lines is not None:
                yield path, lines

    def remove(self, path: Path) -> None:
        """Forget a segment whose events are stored."""
        with suppress(FileNotFoundError):
            path.unlink()

    def rewrite(self, change: Callable[[bytes], bytes], *, write: bool) -> bool:
        """Put every line of the finished segments and every failed one through `change`, each file in one
        step; False when another process drains. `write=False` only shows the lines to it."""
        with self.draining(wait_seconds=WAIT_SECONDS) as mine:
            if not mine:
                return False
            for path, lines in list(self.finished()):
                changed = [change(line) for line in lines]
                if write and changed != lines:
                    self._replace(path, b"".join(line + b"\n" for line in changed))
            self.failed.rewrite(change, self._replace if write else None)
        return True

    def _replace(self, path: Path, content: bytes) -> None:
        try:
            write_atomically(path, content, mode=0o600)
        except OSError as error:
            raise CaptureError(
                f"the spool's {path.name} cannot be rewritten: {error.strerror}. Free space, then try again."
            ) from error

    def _read_finished(self, path: Path) -> list[bytes] | None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            raw = file.read()
        whole, _, torn = raw.rpartition(b"\n")
        lines = whole.split(b"\n") if whole else []
        if torn:  # never acknowledged; it may be whole all the same
            with suppress(ValueError):
                json.loads(torn)
                lines.append(torn)
        return [line for line in lines if line.strip()]

    def _sweep(self) -> None:
        """Delete what a process left that died while it made a file: nothing of it counts yet."""
        for path in (*self.directory.glob(f"{_OPENING}*{SUFFIX}"), *self.directory.glob(".*.new")):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > 60:
                    path.unlink()

    def _segments(self) -> list[Path]:
        try:
            names = os.listdir(self.directory)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise CaptureError(
                f"the spool {self.directory} cannot be read: {error.strerror}. Make it a folder again."
            ) from error
        return [
            self.directory / name for name in sorted(names) if name[:1].isdigit() and name.endswith(SUFFIX)
        ]

    def note_error(self, error: str) -> None:
        """Keep what stopped the last drain, for other processes to see; empty when nothing did."""
        path = self.directory / _LAST_ERROR
        with suppress(OSError):
            if error:
                path.write_text(f"{datetime.now(UTC).isoformat()} {error}\n", encoding="utf-8")
            else:
                path.unlink(missing_ok=True)

    def last_error(self) -> str:
        """What stopped the last drain, with its time; empty when nothing did."""
        try:
            return (self.directory / _LAST_ERROR).read_text("utf-8").strip()
        except OSError:
            return ""

    def backlog(self, *, count: bool = True) -> Backlog:
        """Return what waits; `count=False` leaves the lines uncounted (0)."""
        size = events = 0
        oldest = time.time()
        segments = self._segments()
        for path in segments:
            with suppress(FileNotFoundError):
                stat = path.stat()
                size += stat.st_size
                oldest = min(oldest, stat.st_mtime)
                events += path.read_bytes().count(b"\n") if count else 0
        failures = 0
        with suppress(FileNotFoundError):
            size += self.failed.path.stat().st_size
            failures = self.failed.path.read_bytes().count(b"\n") if count else 0
        return Backlog(len(segments), events, size, time.time() - oldest if segments else 0.0, failures)

    def waiting(self) -> bool:
        """Whether any segment is there; cheap."""
        return bool(self._segments())


_SPOOLS: weakref.WeakSet[Spool] = weakref.WeakSet()


def _after_fork() -> None:
    for spool in list(_SPOOLS):
        spool._after_fork()


os.register_at_fork(after_in_child=_after_fork)
