"""The failed lines: what could not be captured or stored, with its error, in the spool's `failed.jsonl`."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class FailedLines:
    """One file that several processes append to; it is replaced and taken away under its own lock."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, entry: dict[str, Any]) -> None:
        """Keep one line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
        with self._locked(os.O_CREAT) as descriptor:
            os.write(descriptor, line)

    def read(self) -> list[dict[str, Any]]:
        """Return the lines, oldest first."""
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return []
        entries = []
        for line in raw.splitlines():
            with suppress(ValueError):
                entries.append(json.loads(line))
        return [entry for entry in entries if isinstance(entry, dict)]

    def take(self) -> list[dict[str, Any]]:
        """Return the lines and forget them."""
        with suppress(FileNotFoundError), self._locked():
            entries = self.read()
            self.path.unlink()
            return entries
        return []

    def rewrite(self, change: Callable[[bytes], bytes], put: Callable[[Path, bytes], None] | None) -> None:
        """Put each line through `change`, and the file's new content, if it has one, through `put`."""
        with suppress(FileNotFoundError), self._locked():
            lines = self.path.read_bytes().splitlines()
            changed = [change(line) for line in lines]
            if put is not None and changed != lines:
                put(self.path, b"".join(line + b"\n" for line in changed))

    @contextmanager
    def _locked(self, flags: int = 0) -> Iterator[int]:
        """Hold the lock of the file that is there now; FileNotFoundError when there is none."""
        while True:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                with suppress(FileNotFoundError):
                    if os.fstat(descriptor).st_ino == self.path.stat().st_ino:
                        yield descriptor
                        return
            finally:
                os.close(descriptor)
