"""Checking the fields of benchmark rows: each fault names file, line and field, and all are told at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from attrs import Factory, define

from olav_core import RecordError

#: Faults that one message tells.
SHOWN = 20
#: An unknown field this much like a known one is a slip; others are the user's own and passed over.
ALIKE = 0.8


@define
class Faults:
    """What is wrong with files, gathered while they are read."""

    lines: list[str] = Factory(list)

    def add(self, where: str, message: str) -> None:
        self.lines.append(f"{where}: {message}")

    def check(self) -> None:
        """Raise RecordError with the faults, if there are any."""
        if not self.lines:
            return
        more = len(self.lines) - SHOWN
        told = self.lines[:SHOWN] + ([f"and {more} more"] if more > 0 else [])
        raise RecordError("\n".join(told) if len(told) > 1 else told[0])


class Row:
    """One object of a file. Each method returns a field or notes what is wrong with it and returns the
    default."""

    def __init__(self, row: Mapping[str, Any], where: str, known: Iterable[str], faults: Faults) -> None:
        self.row, self.where, self.faults = row, where, faults
        known = list(known)
        for name in row:
            close = get_close_matches(str(name), known, n=1, cutoff=ALIKE) if name not in known else []
            if close and close[0] not in row:
                faults.add(where, f"there is no field {name!r}. Did you mean {close[0]!r}?")

    def identifier(self, name: str) -> str:
        """Return a needed id: a string that is not blank, or a whole number."""
        value = self.row.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.needed(name)

    def needed(self, name: str) -> str:
        """Return a needed string that is not blank."""
        if name not in self.row:
            has = ", ".join(map(str, self.row)) or "nothing"
            self.faults.add(self.where, f"there is no {name!r}. It has: {has}.")
            return ""
        value = self.row[name]
        if not isinstance(value, str) or not value.strip():
            self._wrong(name, "a string that is not blank")
            return ""
        return value

    def text(self, name: str, default: str = "") -> str:
        """Return an optional string; null counts as absent."""
        value = self.row.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            self._wrong(name, "a string")
            return default
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return an optional list of strings (or whole numbers: ids)."""
        value = self.row.get(name)
        if value is None:
            return ()
        if not isinstance(value, Sequence) or isinstance(value, str):
            self._wrong(name, "a list of strings")
            return ()
        if not all(isinstance(item, (str, int)) and not isinstance(item, bool) for item in value):
            self._wrong(name, "a list of strings")
            return ()
        return tuple(map(str, value))

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an optional object."""
        value = self.row.get(name)
        if value is not None and not isinstance(value, dict):
            self._wrong(name, "an object")
            return {}
        return value or {}

    def number(self, name: str, default: float) -> float:
        """Return an optional number."""
        value = self.row.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._wrong(name, "a number")
            return default
        return float(value)

    def choice(self, name: str, known: Iterable[str], default: str = "") -> str:
        """Return an optional string that is one of `known`."""
        value = self.text(name, default)
        known = list(known)
        if value not in ("", default) and value not in known:
            close = get_close_matches(value, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else f" Use one of: {', '.join(known)}."
            self.faults.add(self.where, f"{name!r} is {value!r}, which is not known.{hint}")
        return value

    def _wrong(self, name: str, wanted: str) -> None:
        shown = repr(self.row[name])
        shown = shown if len(shown) <= 60 else shown[:57] + "…"
        self.faults.add(self.where, f"{name!r} is {shown}, expected {wanted}.")
