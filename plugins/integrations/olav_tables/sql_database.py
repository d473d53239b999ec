"""Any database that SQLAlchemy reaches: SQLite files opened read-only, servers in read-only transactions."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from olav_tables.database import Column, Keys, TableError, Values, named

#: First words of what may be sent: the inspector's questions, and the SELECTs that are built here.
_READS = frozenset(("SELECT", "WITH", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "PRAGMA", "VALUES"))
_READ_ONLY = {
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
    "oracle": "SET TRANSACTION READ ONLY",
}
_FIRST_WORD = re.compile(r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*\(*\s*(\w+)", re.DOTALL)


class SqlDatabase:
    """See Database. Three locks: the file's mode or the transaction's, the first word of each statement, and
    a rollback at the end. What fails is rolled back at once: PostgreSQL answers nothing else before that."""

    def __init__(self, url: str, path: Path | None) -> None:
        import sqlalchemy as sa
        from sqlalchemy.pool import NullPool

        self._sa = sa
        try:
            if path is not None:
                self.label = f"sqlite:///{path}"
                engine = sa.create_engine("sqlite://", creator=lambda: _read_only(path), poolclass=NullPool)
            else:
                self.label = sa.make_url(url).render_as_string(hide_password=True)
                engine = sa.create_engine(url, poolclass=NullPool)
            if engine.dialect.name == "postgresql":
                engine = engine.execution_options(postgresql_readonly=True)
            sa.event.listen(engine, "before_cursor_execute", _only_reads)
            self._connection = engine.connect()
            if engine.dialect.name == "sqlite":  # also one that SQLAlchemy opened by itself
                self._connection.connection.cursor().execute("PRAGMA query_only = ON")
            if statement := _READ_ONLY.get(engine.dialect.name):
                self._connection.connection.cursor().execute(statement)
            self._inspector = sa.inspect(self._connection)
            self.own = str(self._inspector.default_schema_name or "")
            self._named: dict[str, tuple[str, str]] = {}
        except sa.exc.ArgumentError as error:
            raise TableError(
                "that is no database URL. Write one such as sqlite:///net.db, duckdb:///net.duckdb or "
                "postgresql+psycopg://reader@host/net."
            ) from error
        except sa.exc.NoSuchModuleError as error:
            raise TableError(f"there is no driver for it: {error}. Install it beside olav-core.") from error
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            raise TableError(
                f"{getattr(self, 'label', 'the database')} cannot be read: {_said(error)}"
            ) from error

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one statement that reads; anything else raises."""
        with self._answering():
            return [tuple(row) for row in self._connection.execute(self._sa.text(sql))]

    def tables(self) -> dict[str, str]:
        look = self._inspector
        kinds: dict[tuple[str, str], str] = {}
        for schema in look.get_schema_names():
            if schema.lower() in ("information_schema", "pg_catalog", "sys", "performance_schema"):
                continue
            with suppress(self._sa.exc.SQLAlchemyError):  # a schema that this user may not read
                kinds.update({(schema, name): "table" for name in look.get_table_names(schema)})
                kinds.update({(schema, name): "view" for name in look.get_view_names(schema)})
        self._named = named(kinds, self.own)
        return {name: kinds[parts] for name, parts in sorted(self._named.items())}

    def columns(self, table: str) -> list[Column]:
        schema, name = self._parts(table)
        return [
            Column(
                name=str(column["name"]),
                type=str(column["type"]),
                nullable=bool(column.get("nullable", True)),
                default=str(column.get("default") or ""),
                comment=str(column.get("comment") or ""),
            )
            for column in self._inspector.get_columns(name, schema)
        ]

    def keys(self, table: str) -> Keys:
        schema, name = self._parts(table)
        look = self._inspector
        foreign = tuple(
            (
                tuple(key["constrained_columns"]),
                ".".join(filter(None, (key["referred_schema"], key["referred_table"]))),
                tuple(key["referred_columns"]),
            )
            for key in look.get_foreign_keys(name, schema)
        )
        return Keys(
            primary=tuple(look.get_pk_constraint(name, schema)["constrained_columns"]),
            unique=tuple(tuple(key["column_names"]) for key in look.get_unique_constraints(name, schema)),
            foreign=foreign,
        )

    def count(self, table: str) -> int:
        select = self._sa.select(self._sa.func.count()).select_from(self._table(table))
        with self._answering():
            return int(self._connection.execute(select).scalar_one())

    def sample(self, table: str, limit: int) -> list[dict[str, Any]]:
        names = [column.name for column in self.columns(table)]
        columns = [self._sa.column(name) for name in names]
        select = self._sa.select(*columns).select_from(self._table(table)).limit(limit)
        with self._answering():
            rows = self._connection.execute(select).all()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def values(self, table: str, column: str, scan: int, most: int) -> Values:
        sa, v = self._sa, self._sa.column(column)
        part = sa.select(v.label("v")).select_from(self._table(table)).limit(scan).subquery()
        facts = sa.select(
            sa.func.count(),
            sa.func.count(sa.distinct(part.c.v)),
            sa.func.count(part.c.v),
            sa.func.min(part.c.v),
            sa.func.max(part.c.v),
        ).select_from(part)
        number = sa.func.count()
        often = sa.select(part.c.v, number).where(part.c.v.is_not(None)).group_by(part.c.v)
        with self._answering():
            scanned, distinct, filled, least, greatest = self._connection.execute(facts).one()
            commonest = self._connection.execute(often.order_by(number.desc(), part.c.v).limit(most)).all()
        return Values(
            scanned=scanned,
            distinct=distinct,
            nulls=scanned - filled,
            least=least,
            greatest=greatest,
            commonest=tuple((value, int(rows)) for value, rows in commonest),
        )

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except Exception:
            self._connection.rollback()
            raise

    def _parts(self, table: str) -> tuple[str | None, str]:
        if not self._named:
            self.tables()
        schema, name = self._named.get(table, (self.own, table))
        return (None if schema == self.own else schema), name

    def _table(self, table: str) -> Any:
        schema, name = self._parts(table)
        return self._sa.table(name, schema=schema)

    def interrupt(self) -> None:
        driver = self._connection.connection.driver_connection
        for name in ("interrupt", "cancel"):  # sqlite3; psycopg, oracledb
            if callable(stop := getattr(driver, name, None)):
                stop()
                return

    def close(self) -> None:
        self._connection.rollback()
        self._connection.close()


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, check_same_thread=False)


def _only_reads(conn: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
    word = _FIRST_WORD.match(statement)
    if word is None or word[1].upper() not in _READS:
        raise TableError(f"only reading is allowed here, refused: {statement[:60]!r}.")


def _said(error: Exception) -> str:
    """What the driver said, without the statement and the link that SQLAlchemy adds."""
    return str(getattr(error, "orig", None) or error).splitlines()[0]
