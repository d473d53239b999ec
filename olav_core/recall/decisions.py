"""Decisions: what became of the candidates that take no slot, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable

OUTRANKED = ("outranked", "the slots went to better ones")
GONE = "it was deleted while it was being recalled"


class Decisions:
    """Candidate's row -> (decision, reason). Who is not named was outranked.

    Most reasons are never read, so those of many rows come as a function, which is called when one is.
    """

    def __init__(self) -> None:
        self._told: dict[int, tuple[str, str]] = {}
        self._untold: list[tuple[list[int], str, Callable[[int], str]]] = []

    def tell(self, row: int, decision: str, reason: str) -> None:
        """Note what became of a row, whatever was noted before."""
        self._told[row] = decision, reason

    def tell_all(self, rows: Iterable[int], decision: str, reason: Callable[[int], str]) -> None:
        """Note what became of rows of which nothing is noted yet; `reason` takes a place among them."""
        self._untold.append((list(rows), decision, reason))

    def of(self, row: int) -> tuple[str, str]:
        """Return a row's decision and reason."""
        for rows, decision, reason in self._untold:
            self._told |= {each: (decision, reason(place)) for place, each in enumerate(rows)}
        self._untold.clear()
        return self._told.get(row, OUTRANKED)
