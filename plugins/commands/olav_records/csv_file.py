"""`*.facts.csv`, `*.preferences.csv`, `*.decisions.csv`: a heading, then one record a row."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from olav_core import Draft, Fault, RecordError

#: Columns of every kind; several tags or devices are parted by ";".
COMMON: Final = ("text", "scope", "tags", "time")
MAX_ROWS: Final = 100_000
MAX_FAULTS: Final = 50

Parse = Callable[[Path, Path, bytes], tuple[Sequence[Draft], Sequence[Fault]]]


def parser(category: str) -> Parse:
    """Return the importer's `parse` for one category."""

    def parse(root: Path, path: Path, raw: bytes) -> tuple[Sequence[Draft], Sequence[Fault]]:
        return read_records(category, root, path, raw)

    return parse


def read_records(
    category: str, root: Path, path: Path, raw: bytes
) -> tuple[Sequence[Draft], Sequence[Fault]]:
    """Return the drafts of a table, or its faults, each with its line and field."""
    from olav_records.record import FIELDS

    known = (*COMMON, *FIELDS[category])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return (), (Fault(str(path), 0, f"not UTF-8 at byte {error.start + 1}. Save it as UTF-8."),)
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    drafts: list[Draft] = []
    faults: list[Fault] = []
    try:
        heading = [name.strip().casefold() for name in next(table, [])]
        if problem := _heading_fault(heading, known):
            return (), (Fault(str(path), 1, problem),)
        for cells in table:
            if not any(cell.strip() for cell in cells):
                continue
            try:
                drafts.append(_draft(category, heading, cells, table.line_num, root, path))
            except RecordError as error:
                faults.append(Fault(str(path), table.line_num, str(error)))
            if len(faults) >= MAX_FAULTS or len(drafts) >= MAX_ROWS:
                faults.append(
                    Fault(str(path), table.line_num, "the rest was not read: too many rows or faults.")
                )
                break
    except csv.Error as error:
        faults.append(Fault(str(path), table.line_num, f"no CSV: {error}. Check its quotes."))
    return (() if faults else drafts), faults


def _heading_fault(heading: list[str], known: Sequence[str]) -> str:
    unknown = [name for name in heading if name not in known]
    if unknown:
        return f"unknown column {unknown[0]!r}. Known: {', '.join(known)}."
    if len(set(heading)) < len(heading):
        return "a column stands there twice. Remove one."
    return "" if "text" in heading else f"the column 'text' is missing. Known: {', '.join(known)}."


def _draft(category: str, heading: list[str], cells: list[str], line: int, root: Path, path: Path) -> Draft:
    from olav_records.record import FIELDS, draft

    if len(cells) != len(heading):
        raise RecordError(
            f"{len(cells)} cells, the heading has {len(heading)}. Put a text with commas in quotes."
        )
    row: dict[str, Any] = {name: cell.strip() for name, cell in zip(heading, cells, strict=True)}
    values = {name: row.get(name, "") for name in FIELDS[category]}
    if category == "decision":
        values["devices"] = _list(row.get("devices", ""))
    if category in ("decision", "fact"):
        values["source"] = values.get("source") or path.relative_to(root).as_posix()
    return draft(
        category,
        row["text"],
        values,
        origin="document",
        scope=row.get("scope") or None,
        tags=_list(row.get("tags", "")),
        time=row.get("time") or None,
        line=line,
    )


def _list(cell: str) -> list[str]:
    return [part.strip() for part in cell.replace("；", ";").split(";") if part.strip()]
