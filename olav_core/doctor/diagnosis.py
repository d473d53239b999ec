"""What a check finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from attrs import field, frozen

Level = Literal["ok", "warning", "error"]
Repair = Callable[[], str]


@frozen(kw_only=True)
class Diagnosis:
    """One finding of one check. `mend`: the command or step that helps, empty when all is well.

    `repair` does what is safe and returns what it did; None when a person must decide. `repaired` is that
    answer. The examination fills in `check`.
    """

    level: Level
    what: str
    mend: str = ""
    check: str = ""
    repair: Repair | None = field(default=None, repr=False, eq=False)
    repaired: str | None = None


def counted(count: int, one: str, many: str = "") -> str:
    """Return `1 row`, `2 rows`; `many` where an s is not enough."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def memories(count: int) -> str:
    """Return `1 memory`, `2 memories`."""
    return counted(count, "memory", "memories")


def ok(what: str) -> Diagnosis:
    """Nothing to do."""
    return Diagnosis(level="ok", what=what)


def warning(what: str, mend: str, repair: Repair | None = None) -> Diagnosis:
    """It works, but somebody should look."""
    return Diagnosis(level="warning", what=what, mend=mend, repair=repair)


def error(what: str, mend: str, repair: Repair | None = None) -> Diagnosis:
    """Something does not work."""
    return Diagnosis(level="error", what=what, mend=mend, repair=repair)
