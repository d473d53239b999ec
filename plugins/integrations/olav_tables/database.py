"""A database that is looked at: what every kind of it can tell, and how a URL leads to one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

from olav_core import OlavError

#: A password in a URL, also in one that lost its scheme.
_PASSWORD = re.compile(r"(?<=:)[^:@/\s]+(?=@)")


def without_password(text: str) -> str:
    """Return a text without the passwords of the URLs in it."""
    return _PASSWORD.sub("***", text)


class TableError(OlavError):
    """A database that cannot be read, or a table that it does not have."""


@frozen(kw_only=True)
class Column:
    """One column; `type` as the database spells it."""

    name: str
    type: str
    nullable: bool = True
    default: str = ""
    comment: str = ""


@frozen(kw_only=True)
class Keys:
    """`foreign`: (own columns, other table, its columns)."""

    primary: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    foreign: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()


@frozen(kw_only=True)
class Values:
    """The values of a column among the first `scanned` rows: the commonest with their counts, how many
    different ones, how many are NULL, the least and the greatest."""

    scanned: int
    distinct: int
    nulls: int
    least: Any = None
    greatest: Any = None
    commonest: tuple[tuple[Any, int], ...] = field(factory=tuple)


class Database(Protocol):
    """An open database. `label` holds no password; `own` is the schema whose tables need no prefix. Methods
    may raise whatever the driver raises, and take the names that `tables` gave."""

    label: str
    own: str

    def tables(self) -> dict[str, str]: ...  # name -> "table" or "view"

    def columns(self, table: str) -> list[Column]: ...

    def keys(self, table: str) -> Keys: ...

    def count(self, table: str) -> int: ...

    def sample(self, table: str, limit: int) -> list[dict[str, Any]]: ...

    def values(self, table: str, column: str, scan: int, most: int) -> Values: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


def open_database(url: str) -> Database:
    """Open `url` for reading: `duckdb:///FILE`, `sqlite:///FILE`, a path of either, or any SQLAlchemy URL.

    Raises TableError: nothing there, no driver, a database that refuses.
    """
    path = _file_of(url)
    try:
        if path is not None and _is_duckdb(url, path):
            from olav_tables.duckdb_file import DuckdbFile

            return DuckdbFile(path)
        from olav_tables.sql_database import SqlDatabase

        if path is not None and _head(path) not in (b"", b"SQLite format 3\x00"):
            raise TableError(f"{path} is neither an SQLite nor a DuckDB file. Check the path.")
        return SqlDatabase(url, path)
    except ModuleNotFoundError as error:
        raise TableError(
            f"this kind of database needs the module {error.name!r}. Install the driver that the URL names, "
            "or pip install 'olav-core[sql]'."
        ) from error


def _file_of(url: str) -> Path | None:
    """Return the file that a URL or path means, None for a server; raises TableError without it."""
    scheme, marker, rest = url.partition("://")
    if not marker:
        path = Path(url)
    elif scheme.split("+")[0] in ("sqlite", "duckdb"):
        # As in SQLAlchemy: three slashes lead to a relative path, four to an absolute one.
        path = Path(unquote(urlsplit("x://" + rest).path.removeprefix("/")))
    else:
        return None
    if not path.is_file():
        raise TableError(
            f"there is no database file {without_password(str(path))!r}. Check the path or the URL."
        )
    return path


def _is_duckdb(url: str, path: Path) -> bool:
    if "://" in url:
        return url.startswith("duckdb")
    return _head(path)[8:12] == b"DUCK"


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def named(rows: Iterable[tuple[str, str]], own: str) -> dict[str, tuple[str, str]]:
    """Return (schema, table) by the name that is shown. A dot may stand in a table's own name, so the parts
    are kept, never read from the name."""
    found: dict[str, tuple[str, str]] = {}
    for schema, table in sorted(rows, key=lambda row: (row[0] == own, row)):
        name = table if schema == own else f"{schema}.{table}"
        found[name if name not in found else f"{schema}.{table}"] = schema, table
    return found
