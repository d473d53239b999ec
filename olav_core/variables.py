"""Environment variables that override settings: `OLAV_<SECTION>_<KEY>`, nested by a double underscore."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

import attrs
from attrs import frozen

from olav_core.errors import did_you_mean
from olav_core.host.structuring import FieldFault

PREFIX = "OLAV_"
_SWITCHES = {"1": True, "0": False}


@frozen
class Override:
    """One variable: where its value belongs (`("recall", "tier")`), and the value, not yet checked."""

    variable: str
    path: tuple[str, ...]
    value: Any


def overrides(settings: type, environ: Mapping[str, str]) -> tuple[list[Override], list[FieldFault]]:
    """Return what the variables set, ordered by name, and what is wrong with their names or syntax.

    Only variables whose second word is a section of `settings` are read; an empty one counts as unset.
    Names are lower-cased, so a key with capitals or `-` cannot be reached this way.
    """
    sections = {attribute.name for attribute in attrs.fields(settings) if attribute.init}
    found: list[Override] = []
    faults: list[FieldFault] = []
    for variable in sorted(environ):
        section, _, rest = variable.removeprefix(PREFIX).lower().partition("_")
        if not variable.startswith(PREFIX) or section not in sections or not environ[variable].strip():
            continue
        path = (section, *(step for step in rest.lstrip("_").split("__")))
        try:
            kind = _type_at(settings, path)
            found.append(Override(variable, path, _parse(environ[variable].strip(), kind)))
        except ValueError as error:
            faults.append(FieldFault(variable, str(error)))
    return found, faults


def _type_at(settings: type, path: tuple[str, ...]) -> Any:
    kind: Any = settings
    for i, step in enumerate(path):
        kind = _bare(kind)
        if not step:
            raise ValueError(f"names no key of {'.'.join(path[:i])}. Write OLAV_<SECTION>_<KEY>.")
        if attrs.has(kind):
            hints = typing.get_type_hints(kind, include_extras=True)
            names = [attribute.name for attribute in attrs.fields(kind) if attribute.init]
            if step not in names:
                raise ValueError(f"there is no setting {'.'.join(path[: i + 1])}.{did_you_mean(step, names)}")
            kind = hints[step]
        elif _is_mapping(kind):
            kind = get_args(kind)[1]
        elif kind is not Any:
            raise ValueError(
                f"{'.'.join(path[:i])} is one value and has no key {step!r}. Drop `__{step.upper()}`."
            )
    return kind


def _parse(text: str, kind: Any) -> Any:
    optional = type(None) in get_args(kind)
    kind = _bare(kind)
    if optional and text.lower() in ("null", "~"):
        return None
    if kind is str or get_origin(kind) is Literal:
        return text
    if kind is bool and text in _SWITCHES:
        return _SWITCHES[text]
    if get_origin(kind) is tuple and not text.startswith("["):
        return [item.strip() for item in text.split(",") if item.strip()]
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"the value is not YAML: {' '.join(str(error).split())[:200]}") from error


def _bare(kind: Any) -> Any:
    """Return the type without Annotated and without `| None`."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (typing.Union, types.UnionType):
        return _bare(next(arg for arg in get_args(kind) if arg is not type(None)))
    return kind


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)
