"""What a scenario expects: a tool with arguments, or none, and a convention kept in words or arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from olav_bench.fields import Row
from olav_core import ToolCall

FIELDS = ("tool", "args", "no_tool", "says", "never_says")


@frozen(kw_only=True)
class Expectation:
    """`tool`: the first tool to be called; None when none is expected. `args`: regular expressions that
    arguments of that call must match. `no_tool`: calling any tool is wrong. `says`, `never_says`: regular
    expressions that must, and must not, be found in the final words and the arguments of all calls: the
    convention. Case is ignored."""

    tool: str | None = None
    args: Mapping[str, str] = {}
    no_tool: bool = False
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()

    @property
    def has_convention(self) -> bool:
        return bool(self.args or self.says or self.never_says)

    def right_tool(self, calls: Sequence[ToolCall]) -> bool | None:
        """Whether the first call is of the expected tool (or none is made); None when nothing is expected."""
        if self.no_tool:
            return not calls
        return None if self.tool is None else bool(calls) and calls[0].name == self.tool

    def stalled(self, calls: Sequence[ToolCall]) -> bool | None:
        """Whether a tool was expected and none was called; None when none was expected."""
        return None if self.tool is None else not calls

    def kept(self, calls: Sequence[ToolCall], text: str) -> bool | None:
        """Whether the convention was kept; None when the scenario has none."""
        if not self.has_convention:
            return None
        if self.args:
            first = next((call for call in calls if call.name == self.tool), None)
            given = (first.arguments or {}) if first is not None else {}
            if not all(_found(pattern, str(given.get(name, ""))) for name, pattern in self.args.items()):
                return False
        said = "\n".join([text, *(call.raw for call in calls)])
        return all(_found(pattern, said) for pattern in self.says) and not any(
            _found(pattern, said) for pattern in self.never_says
        )


def read_expectation(row: Row, tools: Sequence[str]) -> Expectation:
    """Return the field `expect` of a scenario; what is wrong with it is noted."""
    given = row.mapping("expect")
    inner = Row(given, f"{row.where}: expect", FIELDS, row.faults)
    tool = inner.text("tool") or None
    if tool is not None and tool not in tools:
        inner.faults.add(inner.where, f"'tool' is {tool!r}, which is not in 'tools'.")
    args: dict[str, Any] = inner.mapping("args")
    found = Expectation(
        tool=tool,
        args={name: str(pattern) for name, pattern in args.items()},
        no_tool=given.get("no_tool") is True,
        says=inner.texts("says"),
        never_says=inner.texts("never_says"),
    )
    for pattern in (*found.args.values(), *found.says, *found.never_says):
        try:
            re.compile(pattern)
        except re.error as error:
            inner.faults.add(inner.where, f"{pattern!r} is no regular expression: {error}.")
    if args and tool is None:
        inner.faults.add(inner.where, "'args' needs a 'tool'.")
    if tool is not None and found.no_tool:
        inner.faults.add(inner.where, "'tool' and 'no_tool' cannot both hold.")
    if not (tool or found.no_tool or found.has_convention):
        inner.faults.add(inner.where, "nothing is expected. Give tool, no_tool, says or never_says.")
    return found


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE | re.DOTALL) is not None
