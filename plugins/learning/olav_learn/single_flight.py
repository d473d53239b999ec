"""One learner at a time in a workspace: a second one, from cron or by hand, says so and ends."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from olav_core import Memory, StoreError


class LearnerBusyError(StoreError):
    """Another learner works in this workspace; nothing was done."""


@contextmanager
def single_flight(memory: Memory) -> Iterator[None]:
    """Hold the workspace's learning lock; the death of the process frees it. Raises LearnerBusyError."""
    path = memory.workspace.directory / "learn.lock"
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LearnerBusyError(
                f"Another `olav learn` runs in {memory.workspace.root}. Wait for it to end, then try again."
            ) from None
        yield
