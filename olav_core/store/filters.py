"""SQL filters: the only place that turns values into filter text.

LanceDB takes filters as strings. Doubling `'` is the whole of the quoting: also escaping `\\` would make
values with a backslash unfindable, and LIKE would treat `_` and `%` in a scope as wildcards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import overload

_COLUMN = re.compile(r"(?:target\.|source\.)?[a-z_]+\Z")


def quote(value: str) -> str:
    """Return `value` as a SQL string literal."""
    if not isinstance(value, str):
        raise TypeError(f"a filter value must be a string, not {type(value).__name__}")
    return "'" + value.replace("'", "''") + "'"


def _column(name: str) -> str:
    if not _COLUMN.match(name):
        raise ValueError(f"{name!r} is not a column name")
    return name


def eq(column: str, value: str) -> str:
    """`column` equals `value`, exactly."""
    return f"{_column(column)} = {quote(value)}"


def in_(column: str, values: Iterable[str]) -> str:
    """`column` is one of `values`; of none, the filter is `false`."""
    literals = [quote(value) for value in dict.fromkeys(values)]
    return f"{_column(column)} IN ({', '.join(literals)})" if literals else "false"


def in_ints(column: str, values: Iterable[int]) -> str:
    """`column` is one of the integers `values`; of none, the filter is `false`."""
    literals = [str(int(value)) for value in values]
    return f"{_column(column)} IN ({', '.join(literals)})" if literals else "false"


def greater(column: str, value: int) -> str:
    """The integer column `column` is above `value`."""
    return f"{_column(column)} > {int(value)}"


def at_most(column: str, value: int) -> str:
    """The integer column `column` is `value` or below."""
    return f"{_column(column)} <= {int(value)}"


def until(column: str, moment: datetime) -> str:
    """The timestamp column `column` is set and not after `moment` (an aware datetime)."""
    return f"{_column(column)} <= timestamp '{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}'"


def after(column: str, moment: datetime) -> str:
    """The timestamp column `column` is after `moment` (an aware datetime)."""
    return f"{_column(column)} > timestamp '{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}'"


def prefix(column: str, value: str) -> str:
    """`column` starts with `value`, taken literally (never LIKE)."""
    return f"starts_with({_column(column)}, {quote(value)})"


def contains(column: str, value: str) -> str:
    """`column` contains `value`, taken literally (never LIKE)."""
    return f"strpos({_column(column)}, {quote(value)}) > 0"


@overload
def all_of(first: str, /, *parts: str | None) -> str: ...
@overload
def all_of(*parts: str | None) -> str | None: ...
def all_of(*parts: str | None) -> str | None:
    """Every given part holds; None parts are left out, of none the result is None (no filter)."""
    kept = [part for part in parts if part is not None]
    return " AND ".join(f"({part})" for part in kept) or None


def any_of(*parts: str) -> str:
    """At least one of the parts holds."""
    return " OR ".join(f"({part})" for part in parts) or "false"
