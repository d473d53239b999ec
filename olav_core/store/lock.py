"""The locks of a local store: writers share one, long readers another, maintenance takes its turn alone."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from olav_core.errors import StoreError

LOST_RACES = 3


class LockHeldError(StoreError):
    """Somebody else holds the lock, and the caller did not want to wait."""


def local_path(uri: str) -> Path | None:
    """The directory behind a LanceDB URI, None when it is not on a local file system."""
    if uri.startswith("file://"):
        return Path(uri.removeprefix("file://"))
    return None if "://" in uri else Path(uri)


class WriteLock:
    """flock on a file beside the database directory; the kernel lets go of it when a process dies.

    On a remote URI (`path=None`) both modes do nothing: object stores have no lock that dies with its holder.
    A thread may take the shared mode again while it holds it.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._held = threading.local()

    @classmethod
    def beside(cls, uri: str, purpose: str = "lock") -> WriteLock:
        """The lock `<database directory>.<purpose>` of the database at `uri`."""
        directory = local_path(uri)
        return cls(None if directory is None else directory.with_name(f"{directory.name}.{purpose}"))

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the lock together with other writers."""
        if self.path is None or self.held:
            yield
            return
        with self._open(".queue") as queue, self._open() as file:
            # flock alone lets new sharers overtake a waiting exclusive holder for ever; the queue does not.
            fcntl.flock(queue, fcntl.LOCK_SH)
            fcntl.flock(file, fcntl.LOCK_SH)
            fcntl.flock(queue, fcntl.LOCK_UN)
            self._held.depth = 1
            try:
                yield
            finally:
                self._held.depth = 0

    def turn(self, lost: int) -> AbstractContextManager[None]:
        """The mode for a write that lost `lost` races: alone from LOST_RACES on, so that a contested row does
        not starve its slower writers."""
        return self.exclusive() if lost >= LOST_RACES and not self.held else self.shared()

    @property
    def held(self) -> bool:
        """Whether this thread holds the lock."""
        return bool(getattr(self._held, "depth", 0))

    @contextmanager
    def exclusive(self, *, wait: bool = True, patience: float = 0.0) -> Iterator[None]:
        """Hold the lock alone. With `wait=False` raises LockHeldError when somebody else still holds it after
        `patience` seconds."""
        if self.path is None:
            yield
            return
        if self.held:
            raise StoreError(f"this thread already writes under {self.path}; finish that write first.")
        with self._open(".queue") as queue, self._open() as file:
            for descriptor in (queue, file):
                if wait:
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                elif not _alone(descriptor, patience):
                    raise LockHeldError(
                        f"another process holds {self.path}. Wait until it is done, then run this again."
                    )
            self._held.depth = 1
            try:
                yield
            finally:
                self._held.depth = 0

    @contextmanager
    def _open(self, suffix: str = "") -> Iterator[int]:
        path = f"{self.path}{suffix}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreError(
                f"the write lock {path} cannot be opened: {error.strerror}. "
                "Writing needs a directory that this user may write to."
            ) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)


class StreamLock:
    """Says that somebody reads one version at length, so that clean-up leaves its files alone.

    Reading never fails for want of the lock: in a directory that cannot be written nobody cleans up either.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    @classmethod
    def beside(cls, uri: str) -> StreamLock:
        """The lock `<database directory>.readers` of the database at `uri`."""
        directory = local_path(uri)
        return cls(None if directory is None else directory.with_name(f"{directory.name}.readers"))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold off clean-up; waits for one that is under way (milliseconds)."""
        descriptor = self._open()
        try:
            if descriptor is not None:
                fcntl.flock(descriptor, fcntl.LOCK_SH)
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)

    @contextmanager
    def quiet(self, patience: float) -> Iterator[bool]:
        """Keep streams from starting; yields False when one was still open after `patience` seconds, or when
        nobody can know (a remote URI)."""
        descriptor = self._open()
        try:
            yield descriptor is not None and _alone(descriptor, patience)
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _open(self) -> int | None:
        if self.path is None:
            return None
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return None


def _alone(descriptor: int, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True
