"""The clock: the one place where the core asks what time it is, so that a test can set it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present time, UTC. Call it as `clock.now()`: `olav_core.testing.FakeClock` replaces it."""
    return datetime.now(UTC)
