"""A clock that a test sets: expiry, half-life and timestamps without waiting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import TracebackType

from olav_core import clock

START = datetime(2030, 1, 1, tzinfo=UTC)


class FakeClock:
    """The core's time in this process, for the time of a `with` block; fixture `olav_clock` opens it.

    New memories get its time, what has expired by it is not recalled, and `query.now` of rankers and gates
    tells it. It stands still until `advance` or `set`. Versions of the store keep the machine's time.
    """

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._real = clock.now

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> datetime:
        """Move on by `by` and return the new time."""
        self._now += by
        return self._now

    def set(self, time: datetime) -> None:
        """Set the time; without a zone it is UTC."""
        self._now = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)

    def __enter__(self) -> FakeClock:
        self._real, clock.now = clock.now, self.now
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        clock.now = self._real
