"""Checks of single fields that specs of several kinds have: words, strings, numbers, callables."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

from olav_core.host.plugin import Problem

Problems = Iterator[Problem]


def check_words(spec: object, *names: str) -> Problems:
    for name in names:
        value = getattr(spec, name)
        if not isinstance(value, str) or not value.strip():
            yield Problem(f"{name} is {value!r}.", "Say it in a few words; it is shown to people.")


def check_strings(spec: object, name: str) -> Problems:
    value = getattr(spec, name)
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) and v.strip() for v in value):
        yield Problem(f"{name} is {value!r}.", "Give a tuple of strings; a tuple of one ends in a comma.")


def check_priority(value: object) -> Problems:
    if not is_int(value):
        yield Problem(f"priority is {value!r}.", "Give a whole number; low runs first, 50 is the middle.")


def check_callables(spec: object, arity: int, *names: str) -> Problems:
    for name in names:
        value = getattr(spec, name)
        if not callable(value):
            yield Problem(f"{name} is {value!r}, which cannot be called.", "Give a function.")
        elif not _takes(value, arity):
            counted = f"{arity} argument{'' if arity == 1 else 's'}"
            yield Problem(f"{name} cannot be called with {counted}.", f"Let it take exactly {counted}.")


def _takes(function: Callable[..., Any], arity: int) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some C functions do not show theirs
        return True
    try:
        signature.bind(*[None] * arity)
    except TypeError:
        return False
    return True


def is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
