"""Whether a local table may have changed since it was last looked at, without asking the engine."""

from __future__ import annotations

import os
import time
from pathlib import Path

#: A commit in the same clock tick leaves the time as it is, so a stamp is trusted only when it was this old
#: when it was taken, seconds (ticks are 1-10 ms; FAT counts in 2 s).
SETTLED = 2.5


class VersionsFolder:
    """Watches the folder that every commit of a Lance table writes its manifest into.

    Asking the engine costs 0.3-0.7 ms and wakes two threads, which on busy cores is up to 5 ms; this is
    5 µs. Not used for object stores.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._settled: tuple[int, ...] | None = None

    def stamp(self) -> tuple[int, ...] | None:
        """Return what changes with every commit; None when it cannot be known. Take it before reading."""
        if self._path is None:
            return None
        try:
            # Opened, not only looked up: NFS asks the server anew when a folder is opened.
            folder = os.open(self._path, os.O_RDONLY)
            try:
                found = os.fstat(folder)
            finally:
                os.close(folder)
        except OSError:
            return None
        if time.time() - found.st_mtime < SETTLED:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns

    def unchanged(self, stamp: tuple[int, ...] | None) -> bool:
        """Return whether nothing was committed since `seen`."""
        return stamp is not None and stamp == self._settled

    def seen(self, stamp: tuple[int, ...] | None) -> None:
        """Note that the table was read after `stamp` was taken."""
        self._settled = stamp
