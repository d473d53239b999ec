"""What a drain of the spool did."""

from __future__ import annotations

from attrs import define


@define
class DrainReport:
    """What one drain did: new rows, known operations seen again, calls counted before, events of erased
    memories, failed ones (kept in the spool's failed lines); `error` is what stopped it."""

    stored: int = 0
    repeated: int = 0
    known: int = 0
    erased: int = 0
    failed: int = 0
    error: str = ""

    def add(self, other: DrainReport) -> None:
        for name in ("stored", "repeated", "known", "erased", "failed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.error = other.error or self.error
