"""describe_table as a plain callable: one table of one database, read within a time and in bounds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from functools import cached_property
from threading import Thread
from typing import Any, Final

from olav_core import Registry, build_registry
from olav_tables.database import Column, Database, Keys, TableError, open_database, without_password
from olav_tables.description import ColumnValues, TableDescription, plain, short
from olav_tables.names import resolved

MAX_COLUMNS: Final = 100
#: Columns whose values are counted, and the rows that are read for it: a look, not a profile.
COUNTED_COLUMNS: Final = 30
SCANNED_ROWS: Final = 10_000
SAMPLE_ROWS: Final = 5
COMMONEST: Final = 8
TIMEOUT: Final = 10.0


class TableDescriber:
    """Describes tables of one database; `describer("devices")` gives text for a model and never raises for a
    wrong name. Opens the database for each call and holds nothing between calls. Thread-safe.

    - `url`: `duckdb:///FILE`, `sqlite:///FILE`, a path of either, any SQLAlchemy URL.
    - `registry`: whose redactors mask secrets in samples and values; default: the installed plug-ins'.
    - `timeout`: seconds for one table; what is known by then is told, with a note of what is missing.
    """

    def __init__(
        self,
        url: str,
        *,
        registry: Registry | None = None,
        timeout: float = TIMEOUT,
        sample_rows: int = SAMPLE_ROWS,
        max_chars: int = 4_000,
    ) -> None:
        self._url = url
        self._given = registry
        self._timeout = timeout
        self._sample_rows = sample_rows
        self._max_chars = max_chars

    @cached_property
    def _registry(self) -> Registry:
        return self._given or build_registry()

    def __call__(self, name: str = "") -> str:
        """Return the description as text, or one line that says what is wrong and what to try."""
        try:
            if not str(name or "").strip():
                return "tables: " + ", ".join(self.tables())
            return self.describe(name).to_text(self._max_chars)
        except TableError as error:
            return f"error: {error}"

    def tables(self) -> list[str]:
        """Return the names of all tables and views; raises TableError."""
        return self._run(lambda database, _: list(database.tables()))

    def describe(self, name: str) -> TableDescription:
        """Return the description; raises TableError (no such table, unreadable, no answer in time)."""
        found: dict[str, Any] = {}

        def work(database: Database, found: dict[str, Any]) -> None:
            known = database.tables()
            table = resolved(name, known, database.own)
            found.update(table=table, kind=known[table], database=database.label)
            self._read(database, table, found)

        with suppress(FutureTimeout):
            self._run(work, found)
        if "columns" not in found:
            raise TableError(
                f"no answer about {name!r} within {self._timeout:g} s. Try again, or ask for less."
            )
        found.setdefault("notes", []).extend(
            f"{what} left out: no answer within {self._timeout:g} s"
            for what, key in (("row count", "rows"), ("sample rows", "sample"), ("values", "done"))
            if key not in found
        )
        return self._description(found)

    def _read(self, database: Database, table: str, found: dict[str, Any]) -> None:
        notes: list[str] = []
        columns = database.columns(table)
        if len(columns) > MAX_COLUMNS:
            notes.append(f"{len(columns) - MAX_COLUMNS} of {len(columns)} columns are not shown")
        found.update(columns=columns[:MAX_COLUMNS], notes=notes)
        steps: dict[str, Callable[[], Any]] = {
            "keys": lambda: database.keys(table),
            "rows": lambda: database.count(table),
            "sample": lambda: database.sample(table, self._sample_rows),
        }
        for key, step in steps.items():
            try:
                found[key] = step()
            except Exception as error:  # a view that is broken has columns all the same
                found[key] = {"keys": Keys(), "rows": None, "sample": []}[key]
                notes.append(f"{key} cannot be read: {self._said(error)}")
        found["values"] = {}
        for column in columns[:COUNTED_COLUMNS]:
            with suppress(Exception):  # a type that cannot be compared or grouped, such as JSON
                found["values"][column.name] = database.values(table, column.name, SCANNED_ROWS, COMMONEST)
        found["done"] = True

    def _description(self, found: dict[str, Any]) -> TableDescription:
        shown = {column.name for column in found["columns"]}
        sample = [
            {name: plain(value) for name, value in row.items() if name in shown}
            for row in found.get("sample", ())
        ]
        distributions = []
        for name, values in dict(found.get("values", {})).items():
            every_row_differs = values.distinct > COMMONEST and values.distinct > 0.5 * values.scanned
            pairs = {} if every_row_differs else {str(plain(v)): n for v, n in values.commonest}
            distributions.append(
                ColumnValues(
                    column=name,
                    scanned=values.scanned,
                    distinct=values.distinct,
                    nulls=values.nulls,
                    least=self._cell(name, values.least),
                    greatest=self._cell(name, values.greatest),
                    values={str(self._cell(name, value)): rows for value, rows in pairs.items()},
                )
            )
        return TableDescription(
            table=found["table"],
            kind=found["kind"],
            database=found["database"],
            columns=tuple(map(self._column, found["columns"])),
            keys=found.get("keys", Keys()),
            rows=found.get("rows"),
            sample=tuple(map(self._row, sample)),
            distributions=tuple(distributions),
            notes=tuple(found["notes"]),
        )

    def _column(self, column: Column) -> Column:
        masked = self._registry.redact({"default": column.default, "comment": column.comment})[0]
        return Column(name=column.name, type=column.type, nullable=column.nullable, **masked)

    def _cell(self, column: str, value: Any) -> Any:
        """A value under its column's name, so that a column `password` is masked whatever it holds."""
        return self._row({column: plain(value)})[column]

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        """Cells redacted, and only then cut: half a secret is no secret's shape."""
        return {name: short(cell) for name, cell in self._registry.redact(row)[0].items()}

    def _run(
        self, work: Callable[[Database, dict[str, Any]], Any], found: dict[str, Any] | None = None
    ) -> Any:
        """Run `work` on the open database in a thread of its own, and stop it when its time is over."""
        opened: list[Database] = []

        def run() -> Any:
            database = open_database(self._url)
            opened.append(database)
            try:
                return work(database, {} if found is None else found)
            except TableError:
                raise
            except Exception as error:
                raise TableError(f"{database.label} cannot be read: {self._said(error)}") from error
            finally:
                database.close()

        future: Future[Any] = Future()

        def work_on() -> None:
            try:
                future.set_result(run())
            except BaseException as error:
                future.set_exception(error)

        # A daemon, no executor's thread: a database that hangs must not hold up the end of the process.
        Thread(target=work_on, name="olav-tables", daemon=True).start()
        try:
            return future.result(self._timeout)
        except FutureTimeout:
            for database in opened:
                with suppress(Exception):
                    database.interrupt()
            if found is None:
                raise TableError(f"no answer within {self._timeout:g} s. Is the database busy?") from None
            raise

    def _said(self, error: Exception) -> str:
        line = str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__]
        return str(self._registry.redact(without_password(line[0]))[0])
