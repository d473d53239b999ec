"""The least metadata that a category's class takes, made up from its fields."""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

import attrs

_BY_TYPE: Mapping[type, Any] = {str: "sample", int: 1, float: 1.0, bool: True}


def required_fields(cls: type | None) -> frozenset[str]:
    """Return the names of the fields without a default."""
    if cls is None:
        return frozenset()
    return frozenset(f.name for f in attrs.fields(cls) if f.init and f.default is attrs.NOTHING)


def minimal_metadata(cls: type | None) -> dict[str, Any]:
    """Return a value for every field without a default, as JSON.

    Raises LookupError for a field whose type it has no value for.
    """
    if cls is None:
        return {}
    hints = typing.get_type_hints(cls)
    return {name: _value(name, hints.get(name, str)) for name in sorted(required_fields(cls))}


def _value(name: str, kind: Any) -> Any:
    origin = get_origin(kind)
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if origin is Annotated:
        return _value(name, get_args(kind)[0])
    if origin is Literal:
        return get_args(kind)[0]
    if origin in (typing.Union, types.UnionType):
        return None if type(None) in get_args(kind) else _value(name, get_args(kind)[0])
    plain = origin or kind
    if isinstance(plain, type):
        if issubclass(plain, Enum):
            return next(iter(plain)).value
        if issubclass(plain, Mapping):
            return {}
        if issubclass(plain, Collection):
            return []
        if attrs.has(plain):
            return minimal_metadata(plain)
    raise LookupError(f"field {name!r} has the type {kind!r}, for which no value can be made up")
