"""What a tool's own words say of the outcome, whatever status a framework gave the call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from olav_core.specs import VerbMatcherSpec


def failure_read(matchers: Iterable[VerbMatcherSpec], result: Any, tool: str) -> str:
    """Return the id of the first matcher that reads `result` as a failure, "" when none does."""
    for spec in matchers:
        if spec.succeeded is not None and _with_tool(spec.succeeded)(result, tool) is False:
            return spec.id
    return ""


@lru_cache(maxsize=64)
def _with_tool(succeeded: Callable[..., bool | None]) -> Callable[[Any, str], bool | None]:
    """A predicate takes (result) or (result, tool_name)."""
    try:
        inspect.signature(succeeded).bind(None, "")
    except (TypeError, ValueError):
        return lambda result, _: succeeded(result)
    return succeeded
