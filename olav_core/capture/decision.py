"""Whether a tool call is captured: marks, names, arguments, outcome; in that order."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

if TYPE_CHECKING:
    from olav_core.config import CaptureSettings
    from olav_core.host.registry import Registry

#: What recalls or edits memory is no operation: capturing it would store memories again.
OWN_TOOLS: Final = frozenset(
    f"olav_{name}" for name in ("recall_memory", "recall", "remember", "propose", "commit", "forget", "why")
)
#: Statuses that frameworks give a call that went through.
_FINE: Final = frozenset(("", "success", "succeeded", "ok", "done", "complete", "completed", "finished"))
_NAMESPACE = re.compile(r"__+|::|[./:#]+")
#: The verb of a tool that is captured because it was marked.
MARKED: Final = "marked"


@frozen
class Decision:
    """Whether a call is captured, under which verb, and why or why not."""

    captured: bool
    verb: str
    reason: str


class Decider:
    """Asks the marks of a workspace and the matchers of a registry. Thread-safe."""

    def __init__(self, settings: CaptureSettings, registry: Registry) -> None:
        self._settings = settings
        self._registry = registry
        specs = list(registry.verb_matchers.values())
        own = tuple(settings.verbs)
        self._matches: list[tuple[str, Callable[[str], str | None]]] = [
            (spec.id, spec.extend(own) if own and spec.extend is not None else spec.match) for spec in specs
        ]
        self._writes = [(spec.id, spec.writes) for spec in specs if spec.writes is not None]

    def decide(
        self, tool: str, args: Any, result: Any, *, status: str | None = None, mark: bool | None = None
    ) -> Decision:
        """Return the decision. `status` is the framework's own; `mark`: the tool's wish, before all rules."""
        decision = self.is_write(tool, args, mark=mark)
        if not decision.captured:
            return decision
        if status is not None and str(status).strip().lower() not in _FINE:
            return Decision(False, decision.verb, f"its status is {status!r}")
        if id := self._registry.failure_read(result, tool):
            return Decision(False, decision.verb, f"{id} reads its result as a failure")
        return decision

    def is_write(self, tool: str, args: Any = None, *, mark: bool | None = None) -> Decision:
        """Return whether the call is write-class, whatever became of it."""
        last = _NAMESPACE.split(tool)[-1]
        if last in OWN_TOOLS:
            return Decision(False, "", "it is a tool of the memory itself")
        wish, who = mark, "the tool"
        if wish is None:
            wish, who = self._marked(tool, last), "capture.tools"
        if wish is False:
            return Decision(False, "", f"{who} says so")
        if wish is None and (denied := self._denied(tool, last)):
            return Decision(False, "", f"capture.deny has {denied!r}")
        id, verb = self._verb(tool)
        if wish:
            return Decision(True, verb or MARKED, f"{who} says so")
        for writes_id, writes in self._writes:
            writing = writes(tool, args)
            if writing is not None:
                verdict = "a change" if writing else "a look"
                return Decision(writing, verb or "exec", f"{writes_id} reads its arguments as {verdict}")
        if verb is None:
            return Decision(False, "", "no verb of its name changes anything")
        return Decision(True, verb, f"{id} reads {verb!r} in its name")

    def _verb(self, tool: str) -> tuple[str, str | None]:
        for id, match in self._matches:
            verb = match(tool)
            if verb is not None:
                return id, verb
        return "", None

    def _marked(self, tool: str, last: str) -> bool | None:
        tools = self._settings.tools
        return tools.get(tool, tools.get(last))

    def _denied(self, tool: str, last: str) -> str:
        patterns = self._settings.deny
        return next((p for p in patterns if fnmatchcase(tool, p) or fnmatchcase(last, p)), "")
