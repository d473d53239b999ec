"""Questions and SQL as JSON lines, from any framework: what `olav queries import` reads.

A line is a pair, `{"question", "sql"}`, or a run, `{"question", "answer", "statements": [{"sql", "result",
"error"}]}`; both may have `dialect`, `agent`, `scope` and `run`, an id by which it is counted once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from attrs import asdict, field, frozen

from olav_core import Fault, Memory, OlavError, WorkspaceError, check_scope
from olav_query_capture.capture import Captured, QueryCapture
from olav_query_capture.run import RanSql, answering
from olav_query_capture.statement import UnfitError, read_statement

#: Field -> the type of its value; those of a statement likewise, "result" may be anything.
FIELDS: Final[dict[str, type]] = {
    "question": str, "sql": str, "answer": str, "statements": list,
    "dialect": str, "agent": str, "scope": str, "run": str,
}  # fmt: skip
STATEMENT_FIELDS: Final[dict[str, type]] = {"sql": str, "error": str, "result": object, "id": str}


@frozen(kw_only=True)
class ImportedLine:
    """What became of one line: the statement that was kept, and failures of known ones."""

    line: int
    question: str
    captured: tuple[Captured, ...]


@frozen(kw_only=True)
class QueriesReport:
    """The outcome of one import; nothing was written when `applied` is False."""

    applied: bool
    lines: tuple[ImportedLine, ...] = ()
    faults: tuple[Fault, ...] = field(factory=tuple)

    def to_dict(self) -> dict[str, Any]:
        """Return the object of `olav queries import --json`."""
        every = [captured for line in self.lines for captured in line.captured]
        names = ("stored", "confirmed", "failed", "known", "skipped")
        return {
            "applied": self.applied,
            **{name: sum(captured.outcome == name for captured in every) for name in names},
            "lines": [asdict(line) for line in self.lines],
            "faults": [asdict(fault) for fault in self.faults],
        }


def import_queries(
    memory: Memory,
    path: Path,
    *,
    agent: str = "core",
    dialect: str = "",
    dry_run: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> QueriesReport:
    """Capture the lines of a UTF-8 file; one with a fault does not keep the others out.

    `agent` and `dialect` are for lines that name none. A line without `run` is known by its content, so a
    file that is imported again counts nothing twice. Raises WorkspaceError (file), RecordError (dialect).
    """
    try:
        raw = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    QueryCapture(memory, agent=agent, dialect=dialect)  # its faults before anything is written
    numbered = [(number, line) for number, line in enumerate(raw, start=1) if line.strip()]
    lines: list[ImportedLine] = []
    faults: list[Fault] = []
    for done, (number, line) in enumerate(numbered, start=1):
        try:
            value = _value(line)
            value.setdefault("run", "line " + hashlib.sha256(line.strip()).hexdigest()[:16])
            who = value.get("agent", agent)
            capture = QueryCapture(
                memory,
                agent=check_scope(who),
                scope=value.get("scope"),
                dialect=value.get("dialect", dialect),
            )
            captured = _foreseen(value, dialect) if dry_run else _captured(capture, value)
            lines.append(ImportedLine(line=number, question=value["question"], captured=tuple(captured)))
        except (ValueError, OlavError) as error:
            faults.append(Fault(str(path), number, str(error)))
        if on_progress is not None:
            on_progress(done, len(numbered))
    return QueriesReport(applied=not dry_run, lines=tuple(lines), faults=tuple(faults))


def _captured(capture: QueryCapture, value: dict[str, Any]) -> list[Captured]:
    if "sql" in value:
        return [capture.store(value["question"], value["sql"], use=value["run"])]
    done = capture.run(value["question"], _ran(value), value.get("answer", ""), run=value["run"])
    return done or [Captured(outcome="skipped", reason="no statement answers it")]


def _foreseen(value: dict[str, Any], dialect: str) -> list[Captured]:
    """What would be kept; whether it is new is not looked up."""
    dialect = value.get("dialect", dialect)
    if "sql" in value:
        try:
            return [Captured(outcome="stored", sql=read_statement(value["sql"], dialect).sql)]
        except UnfitError as error:
            return [Captured(outcome="skipped", sql=value["sql"], reason=str(error))]
    found = answering(_ran(value), value["question"], value.get("answer", ""), dialect)
    if found is None:
        return [Captured(outcome="skipped", reason="no statement answers it")]
    return [Captured(outcome="stored", sql=found[1].sql)]


def _ran(value: dict[str, Any]) -> list[RanSql]:
    return [
        RanSql(
            sql=item["sql"],
            result=item.get("result"),
            error=item.get("error") or "",
            id=item.get("id") or str(number),
        )
        for number, item in enumerate(value["statements"])
    ]


def _value(line: bytes) -> dict[str, Any]:
    try:
        value: Any = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"not UTF-8 at byte {error.start + 1} of the line. Save the file as UTF-8."
        ) from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}. Write one object a line.") from None
    given = _checked(value, FIELDS, "")
    if not str(given.get("question", "")).strip():
        raise ValueError("field 'question' is missing. Give each line what was asked.")
    if ("sql" in given) == ("statements" in given):
        raise ValueError("give 'sql', or 'statements' of a run: one of them.")
    given["statements"] = [
        _checked(item, STATEMENT_FIELDS, f"statements[{n}].")
        for n, item in enumerate(given.get("statements", ()))
    ]
    for number, item in enumerate(given["statements"]):
        if "sql" not in item:
            raise ValueError(f"field 'statements[{number}].sql' is missing.")
    if "sql" in given:
        del given["statements"]
    return given


def _checked(value: Any, fields: dict[str, type], path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(
            f"{path.rstrip('.') or 'the line'} is a {type(value).__name__}, an object is needed."
        )
    for name, item in value.items():
        if name not in fields:
            near = get_close_matches(name, fields, n=1)
            hint = f" Did you mean {path + near[0]!r}?" if near else f" Known: {', '.join(fields)}."
            raise ValueError(f"unknown field {path + name!r}.{hint}")
        if item is not None and not isinstance(item, fields[name]):
            raise ValueError(
                f"field {path + name!r} holds a {type(item).__name__}, not a {fields[name].__name__}."
            )
    return {name: item for name, item in value.items() if item is not None}
