"""What is told of a table, as data and as the text that a model reads; both bounded."""

from __future__ import annotations

import json
from datetime import date, time
from typing import Any, Final

from attrs import asdict, field, frozen

from olav_tables.database import Column, Keys

#: Of one value; a model needs its shape, not the whole text.
MAX_CELL_CHARS: Final = 80
#: Of the text: about 1,000 tokens of English.
MAX_TEXT_CHARS: Final = 4_000


@frozen(kw_only=True)
class ColumnValues:
    """What a column holds among the first `scanned` rows; `values`: value -> rows, the commonest first. Where
    nearly every row has a value of its own there are none."""

    column: str
    scanned: int
    distinct: int
    nulls: int
    least: Any = None
    greatest: Any = None
    values: dict[str, int] = field(factory=dict)


@frozen(kw_only=True)
class TableDescription:
    """A table or view. `rows` is None when it could not be counted in time. `notes`: what was left out."""

    table: str
    kind: str
    database: str
    columns: tuple[Column, ...]
    keys: Keys = field(factory=Keys)
    rows: int | None = None
    sample: tuple[dict[str, Any], ...] = ()
    distributions: tuple[ColumnValues, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        found["keys"]["foreign"] = [
            {"columns": list(own), "table": other, "references": list(theirs)}
            for own, other, theirs in self.keys.foreign
        ]
        return found

    def to_text(self, max_chars: int = MAX_TEXT_CHARS) -> str:
        """Return it for a model: columns first, whole lines only, at most `max_chars` characters."""
        count = "rows not counted" if self.rows is None else f"{self.rows} rows"
        lines = [f"{self.kind} {self.table} ({count})", "columns:", *map(self._column_line, self.columns)]
        if self.keys.primary:
            lines.append(f"primary key: {', '.join(self.keys.primary)}")
        lines += [f"unique: {', '.join(names)}" for names in self.keys.unique]
        lines += [
            f"foreign key: {', '.join(own)} -> {other}({', '.join(theirs)})"
            for own, other, theirs in self.keys.foreign
        ]
        lines += map(_values_line, self.distributions)
        if self.sample:
            lines.append("sample rows:")
            lines += ["  " + json.dumps(row, ensure_ascii=False, default=str) for row in self.sample]
        lines += [f"note: {note}" for note in self.notes]
        return _fitting(lines, max_chars)

    def _column_line(self, column: Column) -> str:
        rest = "" if column.nullable else " not null"
        rest += f" default {column.default}" if column.default else ""
        return f"  {column.name} {column.type}{rest}" + (f"  -- {column.comment}" if column.comment else "")


def plain(value: Any) -> Any:
    """Return a cell as a JSON value."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"({len(value)} bytes)"
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def short(cell: Any) -> Any:
    """Return a JSON value, a long text cut."""
    if not isinstance(cell, str) or len(cell) <= MAX_CELL_CHARS:
        return cell
    return f"{cell[:MAX_CELL_CHARS]}… ({len(cell)} characters)"


def _values_line(found: ColumnValues) -> str:
    of = f"{found.distinct} different in {found.scanned} rows" + (
        f", {found.nulls} null" if found.nulls else ""
    )
    if found.values:
        shown = ", ".join(f"{value} ({rows})" for value, rows in found.values.items())
        return f"values of {found.column}: {shown}; {of}"
    return f"values of {found.column}: {found.least} … {found.greatest}; {of}"


def _fitting(lines: list[str], limit: int) -> str:
    used, kept = 0, []
    for at, line in enumerate(lines):
        used += len(line) + 1
        if used > limit:
            kept.append(f"… {len(lines) - at} more lines")
            break
        kept.append(line)
    return "\n".join(kept)
