"""Metadata of a memory: checked against its category's class, and brought to plain JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from olav_core.errors import RecordError
from olav_core.host.structuring import FieldFault, converter, faults_of, shown
from olav_core.records import clean_text
from olav_core.specs import CategorySpec

#: Nesting beyond this is a mistake or an attack, and would end in a RecursionError somewhere later.
MAX_DEPTH = 32
#: More values than a text of the greatest length could spell: shared parts that multiply, or a mistake.
MAX_VALUES = 200_000


def check_size(metadata: Mapping[str, Any]) -> None:
    """Raise RecordError when `metadata` nests too deep, in itself even, or holds too many values.

    To be called before anything walks it to its end: redactors do.
    """
    level: list[Any] = [metadata]
    values = 0
    for _ in range(MAX_DEPTH + 1):
        parts: list[Any] = []
        for value in level:
            members = value.values() if isinstance(value, Mapping) else value
            values += len(members)
            if values > MAX_VALUES:
                raise RecordError(f"metadata holds more than {MAX_VALUES:,} values. Store a summary of it.")
            parts += [member for member in members if isinstance(member, (Mapping, list, tuple))]
        if not parts:
            return
        level = parts
    raise RecordError(f"metadata is nested deeper than {MAX_DEPTH} levels, or holds itself. Flatten it.")


def structure(spec: CategorySpec, metadata: object) -> dict[str, Any]:
    """Return `metadata` as a plain JSON object, the defaults of the category's class filled in.

    Takes a mapping, an instance of the class, or None (= empty). Raises RecordError that lists every fault
    with its field's path, what was expected and what came. Without a class any JSON object will do. NaN and
    infinities are refused everywhere, and texts are cleaned as `records.clean_text` cleans them.
    """
    cls = spec.metadata
    value: Any = {} if metadata is None else metadata
    if isinstance(value, (Mapping, cls or Mapping)):
        faults: list[FieldFault] = []
        plain = _plain(value if cls is None else _structured(spec, value), "metadata", faults, 0)
    else:
        faults = [FieldFault("metadata", f"expected a mapping, got {shown(value)}")]
    if faults:
        raise _error(spec, faults)
    return dict(plain)


def _structured(spec: CategorySpec, value: Any) -> Any:
    cls: Any = spec.metadata
    strict = converter()
    try:
        # An instance is taken apart first: attrs checks no types by itself.
        raw = strict.unstructure(value) if isinstance(value, cls) else value
        return strict.unstructure(strict.structure(raw, cls))
    except Exception as error:  # validators of the class may raise what they like
        raise _error(spec, faults_of(error, "metadata")) from error


def _error(spec: CategorySpec, faults: list[FieldFault]) -> RecordError:
    lines = "\n".join(f"  {fault}" for fault in faults)
    by = f"{spec.metadata.__module__}.{spec.metadata.__qualname__}" if spec.metadata else "any JSON object"
    return RecordError(
        f"a memory of category {spec.id!r} has {len(faults)} fault(s) in its metadata, nothing was written:\n"
        f"{lines}\nMend them and write again; what is allowed: {by}."
    )


def _plain(value: Any, path: str, faults: list[FieldFault], depth: int) -> Any:
    """Return the value as JSON knows it; what it does not know goes to `faults`."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(str.__str__(value))  # a str Enum too gives its value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            faults.append(FieldFault(path, f"expected a finite number, got {value!r}"))
        return float(value)
    if depth >= MAX_DEPTH:
        faults.append(FieldFault(path, f"is nested deeper than {MAX_DEPTH} levels"))
        return None
    if isinstance(value, Mapping):
        plain = {}
        for key, item in value.items():
            if not isinstance(key, str):
                faults.append(FieldFault(path, f"expected strings as keys, got {shown(key)}"))
                continue
            plain[clean_text(key)] = _plain(item, f"{path}.{key}", faults, depth + 1)
        return plain
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{i}]", faults, depth + 1) for i, item in enumerate(value)]
    faults.append(FieldFault(path, f"expected a JSON value, got {shown(value)}"))
    return None
