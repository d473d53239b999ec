"""Structuring: JSON-like values into attrs classes, strictly, with every fault and the path of its field.

cattrs alone would turn "5" into 5, "false" into True and "abc" into ["a", "b", "c"].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from datetime import date, datetime, timedelta
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import attrs

from olav_core.errors import did_you_mean

if TYPE_CHECKING:
    from cattrs import BaseConverter
    from cattrs.preconf.json import JsonConverter

_MAX_SHOWN = 60


@attrs.frozen
class FieldFault:
    """What is wrong with one field; `path` as in `recall.token_budget.small` or `tags[2]`."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@attrs.frozen
class Range:
    """Bounds of a number: `Annotated[int, Range(1)]`. `above`: the low bound itself is outside."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high and not (self.above and number == self.low)

    def __str__(self) -> str:
        low = f"above {self.low:g}" if self.above else f"of at least {self.low:g}"
        return low if self.high == math.inf else f"{low} and at most {self.high:g}"


class WrongValueError(ValueError):
    """A value of the wrong type or outside its range; the message says what was expected and what came."""

    def __init__(self, expected: str, got: object) -> None:
        super().__init__(f"expected {expected}, got {shown(got)}")


class UnknownValueError(ValueError):
    """A value that is none of the allowed ones."""

    def __init__(self, got: object, allowed: Iterable[object]) -> None:
        hint = did_you_mean(got[:_MAX_SHOWN] if isinstance(got, str) else "", map(str, allowed))
        super().__init__(f"{shown(got)} is unknown.{hint}")


def shown(value: object) -> str:
    """Return a value for a message: short ones in full, collections by their size only."""
    if isinstance(value, Mapping):
        return f"a mapping of {len(value)}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return f"a list of {len(value)}"
    text = repr(value)
    if len(text) > _MAX_SHOWN:
        text = f"{text[:_MAX_SHOWN]}…"
    return text if value is None else f"{text} ({type(value).__name__})"


@lru_cache(maxsize=1)
def converter() -> JsonConverter:
    """Return the strict converter. Register nothing on it: it is shared by everything in the process."""
    from cattrs import cols
    from cattrs.preconf.json import make_converter

    strict = make_converter(
        forbid_extra_keys=True, detailed_validation=True, unstruct_collection_overrides={Set: _sorted}
    )
    for cls, structure in _SCALARS.items():
        strict.register_structure_hook(cls, structure)
    strict.register_unstructure_hook(timedelta, lambda value: value.total_seconds())
    strict.register_structure_hook_factory(_is_literal, _literal)
    strict.register_structure_hook_factory(_is_enum, _enum)
    strict.register_structure_hook_factory(_has_range, _ranged)
    strict.register_structure_hook_factory(
        lambda cls: cols.is_sequence(cls) or cols.is_any_set(cls) or _is_uniform_tuple(cls), _collection
    )
    strict.register_structure_hook_factory(attrs.has, _attrs_class)
    return strict


def faults_of(error: BaseException, path: str) -> list[FieldFault]:
    """Return every fault in what `converter().structure` raised, below `path`."""
    from cattrs import ClassValidationError, ForbiddenExtraKeysError, IterableValidationError
    from cattrs.errors import AttributeValidationNote

    if isinstance(error, (ClassValidationError, IterableValidationError)):
        noted, bare = error.group_exceptions()
        faults: list[FieldFault] = []
        for inner, note in noted:
            step = note.name if isinstance(note, AttributeValidationNote) else note.index
            faults += faults_of(inner, _joined(path, step))
        for inner in bare:
            faults += faults_of(inner, path)
        return faults
    if isinstance(error, ForbiddenExtraKeysError):
        names = [a.name for a in attrs.fields(error.cl) if a.init]
        return [
            FieldFault(_joined(path, key), f"there is no such field.{did_you_mean(str(key), names)}")
            for key in sorted(error.extra_fields, key=str)
        ]
    if isinstance(error, KeyError):
        return [FieldFault(path, "is required and missing")]
    if isinstance(error, AttributeError) and str(error).endswith("no attribute 'items'"):
        return [FieldFault(path, "expected a mapping")]
    return [FieldFault(path, str(error) or type(error).__name__)]


def _joined(path: str, step: object) -> str:
    if isinstance(step, str):
        return f"{path}.{step}" if path else step
    return f"{path}[{step!r}]"


def _sorted(items: Iterable[Any]) -> list[Any]:
    # Sets iterate in another order in each process, and the same metadata must be the same row.
    return sorted(items, key=lambda item: (type(item).__name__, repr(item)))


def _string(value: Any, cls: Any) -> Any:
    if _is_enum(cls):  # cattrs sends subclasses here too
        return _enum(cls)(value, cls)
    if not isinstance(value, str):
        raise WrongValueError("a string", value)
    return value


def _integer(value: Any, cls: Any) -> Any:
    if _is_enum(cls):
        return _enum(cls)(value, cls)
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongValueError("a whole number", value)
    return value


def _number(value: Any, _: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise WrongValueError("a finite number", value)
    return float(value)


def _boolean(value: Any, _: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError("true or false", value)
    return value


def _moment(value: Any, _: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise WrongValueError("a time as in 2026-04-29T08:00:00Z", value) from None


def _day(value: Any, _: Any) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise WrongValueError("a date as in 2026-04-29", value) from None


def _seconds(value: Any, _: Any) -> timedelta:
    return value if isinstance(value, timedelta) else timedelta(seconds=_number(value, float))


_SCALARS: Mapping[type, Callable[[Any, Any], Any]] = {
    str: _string,
    int: _integer,
    float: _number,
    bool: _boolean,
    datetime: _moment,
    date: _day,
    timedelta: _seconds,
}


def _is_literal(cls: Any) -> bool:
    return get_origin(cls) is Literal


def _literal(cls: Any) -> Callable[[Any, Any], Any]:
    allowed = get_args(cls)

    def structure(value: Any, _: Any) -> Any:
        for one in allowed:
            if type(one) is type(value) and one == value:
                return one
        raise UnknownValueError(value, allowed)

    return structure


def _is_enum(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Enum)


def _enum(cls: type[Enum]) -> Callable[[Any, Any], Any]:
    def structure(value: Any, _: Any) -> Any:
        try:
            return value if isinstance(value, cls) else cls(value)
        except ValueError:
            raise UnknownValueError(value, [one.value for one in cls]) from None

    return structure


def _has_range(cls: Any) -> bool:
    return get_origin(cls) is Annotated and any(isinstance(note, Range) for note in get_args(cls)[1:])


def _ranged(cls: Any, strict: BaseConverter) -> Callable[[Any, Any], Any]:
    base, *notes = get_args(cls)
    inner = strict.get_structure_hook(base)
    bounds = next(note for note in notes if isinstance(note, Range))

    def structure(value: Any, _: Any) -> Any:
        number = inner(value, base)
        if number not in bounds:
            raise WrongValueError(f"a number {bounds}", value)
        return number

    return structure


def _is_uniform_tuple(cls: Any) -> bool:
    args = get_args(cls)
    return get_origin(cls) is tuple and len(args) == 2 and args[1] is ...


def _collection(cls: Any, strict: BaseConverter) -> Callable[[Any, Any], Any]:
    origin = get_origin(cls) or cls
    make: Callable[[Collection[Any]], Any] = origin if origin in (list, tuple, set, frozenset) else list
    if make is list and isinstance(origin, type) and issubclass(set, origin) and not issubclass(list, origin):
        make = set
    element = next(iter(get_args(cls)), Any)
    inner = strict.get_structure_hook(element)

    def structure(value: Any, _: Any) -> Any:
        from cattrs import IterableValidationError
        from cattrs.errors import IterableValidationNote

        if not isinstance(value, (list, tuple, set, frozenset)):
            raise WrongValueError("a list", value)
        items, errors = [], []
        for index, item in enumerate(value):
            try:
                items.append(inner(item, element))
            except Exception as error:
                error.add_note(IterableValidationNote(f"item {index}", index, element))
                errors.append(error)
        if errors:
            raise IterableValidationError("items", errors, cls)
        return make(items)

    return structure


def _attrs_class(cls: Any, strict: BaseConverter) -> Callable[[Any, Any], Any]:
    from cattrs.gen import make_dict_structure_fn

    inner = make_dict_structure_fn(
        cls, strict, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=True
    )

    def structure(value: Any, _: Any) -> Any:
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise WrongValueError("a mapping", value)
        return inner(value, cls)

    return structure
