"""Filters of a store search: exact values, nested values, and the operators $eq $ne $gt $gte $lt $lte."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Tell whether an item's value has everything that a filter asks for.

    Values of different kinds are never greater or smaller. Raises ValueError for an unknown operator.
    """
    return all(_holds(value.get(name), condition) for name, condition in (wanted or {}).items())


def _holds(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        operators = [name for name in wanted if str(name).startswith("$")]
        if operators:
            return all(_compare(value, str(name), operand) for name, operand in wanted.items())
        return isinstance(value, Mapping) and all(_holds(value.get(k), v) for k, v in wanted.items())
    if isinstance(wanted, (list, tuple)):
        same_shape = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return same_shape and all(_holds(v, w) for v, w in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compare(value: Any, name: str, operand: Any) -> bool:
    if name not in _COMPARE:
        raise ValueError(f"There is no filter operator {name!r}. Use one of: {', '.join(_COMPARE)}.")
    try:
        return bool(_COMPARE[name](value, operand))
    except TypeError:
        return False
