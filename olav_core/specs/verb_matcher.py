"""A verb matcher: which tool calls change something, and which failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen


def _no_verb(_: str) -> str | None:
    return None


@frozen(kw_only=True)
class VerbMatcherSpec:
    """Tells write-class tool calls, and failed ones. A matcher gives what it knows, the rest stays None.

    - `match(tool_name)`: the verb of a tool that changes something, or None.
    - `extend(verbs)`: a `match` that also knows these verbs of a team (`capture.verbs`).
    - `writes(tool_name, args)`: for tools whose arguments decide (a shell, SQL, an HTTP client): True for a
      change, False for a look, None when the name decides. `args` may hold anything.
    - `succeeded(result)`, or `succeeded(result, tool_name="")`: False for a result that is a failure whatever
      its status says, True for one that says it succeeded, None when it cannot tell. `result` may be
      anything.
    """

    id: str
    purpose: str
    languages: tuple[str, ...]
    match: Callable[[str], str | None] = _no_verb
    succeeded: Callable[..., bool | None] | None = None
    extend: Callable[[Sequence[str]], Callable[[str], str | None]] | None = None
    writes: Callable[[str, Any], bool | None] | None = None
