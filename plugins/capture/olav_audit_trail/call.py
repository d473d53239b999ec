"""A tool call as an audit row tells it, read from LangChain's requests, results and messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve, field, frozen
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.config import get_config
from langgraph.types import Command

from olav_audit_trail.trail import DENIED, ERROR, SUCCESS
from olav_core import Registry, clock

#: How frameworks tell the model that a person said no.
_DENIED = re.compile(
    r"\b(?:user|human|operator|person)\b.{0,20}\b(?:reject|den|refus|declin)|拒绝|驳回", re.I
)


@frozen(kw_only=True)
class AuditedCall:
    """One finished call; `error` is empty when it went well."""

    tool: str
    call: str
    args: Mapping[str, Any]
    outcome: str
    error: str
    run: str
    user: str = "unknown"
    seconds: float | None = None
    time: datetime = field(factory=lambda: clock.now())

    def signed(self, user: str, seconds: float | None) -> AuditedCall:
        return evolve(self, user=user, seconds=seconds)

    def fields(self) -> dict[str, Any]:
        """Return the arguments of AuditTrail.record."""
        names = ("tool", "call", "args", "outcome", "error", "run", "user", "seconds", "time")
        return {"action": self.tool, **{name: getattr(self, name) for name in names}}


def finished(request: Any, result: Any, registry: Registry) -> AuditedCall:
    """Return the call of a request with its result, a ToolMessage or a Command that may hold one."""
    wanted = request.tool_call
    id = str(wanted.get("id") or "")
    message = result if isinstance(result, ToolMessage) else _message_in(result, id)
    run = run_of(request.runtime, (request.state or {}).get("messages", ()))
    return _call(wanted, message, run, registry)


def calls_of_turn(messages: Sequence[BaseMessage], run: str, registry: Registry) -> Iterator[AuditedCall]:
    """Yield the answered calls after the last message from the user."""
    start = max((at for at, message in enumerate(messages) if _from_user(message)), default=0)
    wanted: dict[str, Any] = {}
    for message in messages[start:]:
        if isinstance(message, AIMessage):
            wanted.update({call["id"]: call for call in message.tool_calls if call["id"]})
        elif isinstance(message, ToolMessage) and message.tool_call_id in wanted:
            yield _call(wanted[message.tool_call_id], message, run, registry)


def config_of(runtime: Any) -> Mapping[str, Any]:
    """Return what the host configured for this run."""
    config = getattr(runtime, "config", None)
    if not config:
        try:
            config = get_config()
        except RuntimeError:
            config = {}
    found: Mapping[str, Any] = (config or {}).get("configurable") or {}
    return found


def user_of(configured: Mapping[str, Any]) -> str:
    """Return the user that the run's configuration names, "" when it names none."""
    for name in ("user_id", "user", "langgraph_auth_user_id"):
        if configured.get(name):
            return str(configured[name])
    return ""


def run_of(runtime: Any, messages: Sequence[BaseMessage]) -> str:
    """Return the id of the run: the thread's, a slash, and that of the user's message that it answers."""
    thread = str(config_of(runtime).get("thread_id") or "")
    asked = next((message.id for message in reversed(messages) if _from_user(message)), None)
    return "/".join(part for part in (thread, str(asked or "")) if part)


def _from_user(message: BaseMessage) -> bool:
    return message.type == "human" and not message.additional_kwargs.get("lc_source")


def _call(
    wanted: Mapping[str, Any], message: ToolMessage | None, run: str, registry: Registry
) -> AuditedCall:
    said = "" if message is None else str(message.text)
    outcome = SUCCESS
    if message is not None and message.status == "error":
        outcome = DENIED if _DENIED.search(said[:200]) else ERROR
    elif message is not None and registry.failure_read(message.content, str(wanted["name"])):
        outcome = ERROR
    args = wanted.get("args")
    return AuditedCall(
        tool=str(wanted["name"]),
        call=str(wanted.get("id") or ""),
        args=args if isinstance(args, Mapping) else {"input": args},
        outcome=outcome,
        error="" if outcome == SUCCESS else said,
        run=run,
    )


def _message_in(result: Any, id: str) -> ToolMessage | None:
    update = result.update if isinstance(result, Command) else None
    messages = update.get("messages", ()) if isinstance(update, Mapping) else ()
    listed = messages if isinstance(messages, (list, tuple)) else (messages,)
    return next((m for m in listed if isinstance(m, ToolMessage) and m.tool_call_id == id), None)
