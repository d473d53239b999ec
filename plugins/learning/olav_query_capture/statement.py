"""One SQL statement, read by sqlglot: what it reads, its template, and whether it answers anything."""

from __future__ import annotations

import re
from typing import Final

import sqlglot
from attrs import frozen
from sqlglot import exp
from sqlglot.errors import SqlglotError

from olav_core import RecordError

#: A longer statement was written by a program.
MAX_SQL_CHARS: Final = 20_000
#: Tried in turn when no dialect is given; the first is sqlglot's own, a superset of most.
DIALECTS: Final = ("", "duckdb", "postgres", "mysql", "sqlite", "tsql", "oracle")
_SYSTEM: Final = re.compile(
    r"^(?:information_schema|pg_catalog|sys|mysql|performance_schema|system)\."
    r"|^(?:sqlite_(?:temp_)?(?:master|schema)|pg_\w+|(?:all|user|dba)_(?:tables|views|tab_columns|objects|constraints)"
    r"|(?:duckdb|pragma)_\w+|dual)$",
    re.IGNORECASE,
)
_CHANGES: Final = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Into)


class UnfitError(RecordError):
    """A statement that is no pattern: the message says why in a few words."""


@frozen(kw_only=True)
class Statement:
    """A query that reads tables. `template`: it with every literal as a placeholder, on one line."""

    sql: str
    dialect: str
    template: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]


def check_dialect(dialect: str) -> str:
    """Return the dialect in sqlglot's spelling or raise RecordError that names those there are."""
    name = dialect.strip().lower()
    known = sorted(str(item.value) for item in sqlglot.Dialects if item.value)
    name = {"postgresql": "postgres", "mssql": "tsql", "mariadb": "mysql"}.get(name, name)
    if name and name not in known:
        raise RecordError(f"dialect {dialect!r} is unknown. Known: {', '.join(known)}.")
    return name


def read_statement(sql: str, dialect: str = "") -> Statement:
    """Return the statement that `sql` is; raises UnfitError: introspection, a change, no table, no SQL."""
    if not isinstance(sql, str) or not sql.strip():
        raise UnfitError("no SQL")
    if len(sql) > MAX_SQL_CHARS:
        raise UnfitError(f"{len(sql):,} characters, the limit is {MAX_SQL_CHARS:,}")
    tree = _parsed(sql, check_dialect(dialect))
    if isinstance(tree, (exp.Describe, exp.Show, exp.Pragma, exp.Command, exp.Set, exp.Use)):
        raise UnfitError(f"{type(tree).__name__.upper()}: looks at the schema or sets something up")
    if not isinstance(tree, exp.Query) or tree.find(*_CHANGES) is not None:
        raise UnfitError("it changes something")
    inner = {part.alias_or_name.lower() for part in tree.find_all(exp.CTE)}
    tables = _tables(tree, inner)
    system = [name for name in tables if _SYSTEM.match(name)]
    if system or _system_functions(tree):
        raise UnfitError(f"it looks at the schema ({(system or _system_functions(tree))[0]})")
    if not tables:
        raise UnfitError("it reads no table")
    columns = dict.fromkeys(column.name for column in tree.find_all(exp.Column) if column.name)
    return Statement(
        sql=sql.strip().rstrip(";").rstrip(),
        dialect=check_dialect(dialect),
        template=_template(tree, check_dialect(dialect)),
        tables=tuple(tables),
        columns=tuple(columns),
    )


def _parsed(sql: str, dialect: str) -> exp.Expression:
    said = ""
    for name in (dialect,) if dialect else DIALECTS:
        try:
            found = [tree for tree in sqlglot.parse(sql, dialect=name or None) if tree is not None]
        except (SqlglotError, RecursionError) as error:
            said = said or str(error).splitlines()[0]
            continue
        if len(found) == 1:
            return found[0]
        raise UnfitError("several statements" if found else "no SQL")
    raise UnfitError(f"cannot be parsed: {said[:120]}")


def _tables(tree: exp.Expression, inner: set[str]) -> list[str]:
    names = {}
    for table in tree.find_all(exp.Table):
        name = ".".join(part.name for part in table.parts if part.name)
        if name and name.lower() not in inner and not isinstance(table.this, exp.Func):
            names[name] = None
    return list(names)


def _system_functions(tree: exp.Expression) -> list[str]:
    names = [str(call.name) for call in tree.find_all(exp.Anonymous)]
    return [name for name in names if _SYSTEM.match(name)]


def _template(tree: exp.Expression, dialect: str) -> str:
    def masked(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.In) and node.expressions and all(map(_is_value, node.expressions)):
            return exp.In(this=node.this, expressions=[exp.Placeholder()])
        if isinstance(node, exp.Identifier):
            return exp.to_identifier(node.this if node.quoted else node.this.lower(), quoted=node.quoted)
        return exp.Placeholder() if _is_value(node) else node

    plain = tree.copy()
    for node in plain.walk():
        node.pop_comments()
    return plain.transform(masked).sql(dialect=dialect or None, comments=False)


def _is_value(node: exp.Expression) -> bool:
    value = node.this if isinstance(node, exp.Neg) else node
    return isinstance(value, (exp.Literal, exp.Boolean))
