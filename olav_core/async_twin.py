"""The asynchronous twin of a method: its name with an `a` before it, its signature, run in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

_S = TypeVar("_S")
_P = ParamSpec("_P")
_R = TypeVar("_R")


def async_twin(
    method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], Coroutine[Any, Any, _R]]:
    """Return `method` as a coroutine function that does not block the event loop."""
    name = method.__name__

    @wraps(method)
    async def twin(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        # Looked up by name, so that the twin of a method that a subclass overrides is the overriding one.
        result: _R = await asyncio.to_thread(getattr(self, name), *args, **kwargs)
        return result

    twin.__name__ = f"a{name}"
    twin.__qualname__ = method.__qualname__.removesuffix(name) + twin.__name__
    twin.__doc__ = f"`{name}` without blocking the event loop."
    return twin
