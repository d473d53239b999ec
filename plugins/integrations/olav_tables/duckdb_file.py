"""A DuckDB file, opened read-only by its own library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from olav_tables.database import Column, Keys, TableError, Values, named

#: The schema whose tables need no prefix.
MAIN = "main"


class DuckdbFile:
    """See Database. A view that reads files outside of the database cannot be sampled: it is switched off."""

    def __init__(self, path: Path) -> None:
        import duckdb

        self.label, self.own = f"duckdb:///{path}", MAIN
        self._named: dict[str, tuple[str, str]] = {}
        try:
            self._connection: Any = duckdb.connect(
                str(path), read_only=True, config={"enable_external_access": "false"}
            )
        except duckdb.Error as error:
            raise TableError(
                f"{path} cannot be opened for reading: {error}. If a program has it open for writing, "
                "end that one or copy the file."
            ) from error

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Run one statement; what would change something is refused by the engine."""
        rows: list[tuple[Any, ...]] = self._connection.execute(sql, values).fetchall()
        return rows

    def tables(self) -> dict[str, str]:
        rows = self.execute(
            "SELECT table_schema, table_name, table_type FROM information_schema.tables "
            "WHERE table_catalog = current_database() ORDER BY 1, 2"
        )
        kinds = {(schema, name): "view" if kind == "VIEW" else "table" for schema, name, kind in rows}
        self._named = named(kinds, MAIN)
        return {name: kinds[parts] for name, parts in sorted(self._named.items())}

    def columns(self, table: str) -> list[Column]:
        rows = self.execute(
            "SELECT column_name, data_type, is_nullable, column_default, comment FROM duckdb_columns() "
            "WHERE database_name = current_database() AND schema_name = ? AND table_name = ? "
            "ORDER BY column_index",
            self._parts(table),
        )
        return [
            Column(
                name=name, type=kind, nullable=bool(nullable), default=default or "", comment=comment or ""
            )
            for name, kind, nullable, default, comment in rows
        ]

    def keys(self, table: str) -> Keys:
        rows = self.execute(
            "SELECT constraint_type, constraint_column_names, referenced_table, referenced_column_names "
            "FROM duckdb_constraints() WHERE database_name = current_database() AND schema_name = ? "
            "AND table_name = ?",
            self._parts(table),
        )
        return Keys(
            primary=next((tuple(own) for kind, own, _, _ in rows if kind == "PRIMARY KEY"), ()),
            unique=tuple(tuple(own) for kind, own, _, _ in rows if kind == "UNIQUE"),
            foreign=tuple(
                (tuple(own), str(other), tuple(theirs or ()))
                for kind, own, other, theirs in rows
                if kind == "FOREIGN KEY"
            ),
        )

    def count(self, table: str) -> int:
        return int(self.execute(f"SELECT count(*) FROM {self._quoted(table)}")[0][0])

    def sample(self, table: str, limit: int) -> list[dict[str, Any]]:
        cursor = self._connection.execute(f"SELECT * FROM {self._quoted(table)} LIMIT {int(limit)}")
        names = [part[0] for part in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def values(self, table: str, column: str, scan: int, most: int) -> Values:
        part = f"(SELECT {_name(column)} AS v FROM {self._quoted(table)} LIMIT {int(scan)})"
        ((scanned, distinct, filled, least, greatest),) = self.execute(
            f"SELECT count(*), count(DISTINCT v), count(v), min(v), max(v) FROM {part}"
        )
        commonest = self.execute(
            f"SELECT v, count(*) FROM {part} WHERE v IS NOT NULL GROUP BY v ORDER BY 2 DESC, 1 "
            f"LIMIT {int(most)}"
        )
        return Values(
            scanned=scanned,
            distinct=distinct,
            nulls=scanned - filled,
            least=least,
            greatest=greatest,
            commonest=tuple((value, int(rows)) for value, rows in commonest),
        )

    def _parts(self, table: str) -> tuple[str, str]:
        if not self._named:
            self.tables()
        return self._named.get(table, (MAIN, table))

    def _quoted(self, table: str) -> str:
        return ".".join(_name(part) for part in self._parts(table))

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
