"""The audit trail: who did what and when. A LangChain middleware, `AuditTrail`, the command `olav audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olav_core import CommandSpec, MiddlewareSpec, hookimpl, lazy_names

if TYPE_CHECKING:
    import click

    from olav_audit_trail.middleware import AuditMiddleware as AuditMiddleware
    from olav_audit_trail.run_error import RunErrors as RunErrors
    from olav_audit_trail.trail import AuditTrail as AuditTrail
    from olav_core import Memory

#: Public name -> its module; they load when asked for.
_HOMES = {"AuditMiddleware": "middleware", "AuditTrail": "trail", "RunErrors": "run_error"}
_NEEDS = dict.fromkeys(("langchain", "langchain_core", "langgraph"), "olav-core[langchain]")
__all__ = sorted(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES, needs=_NEEDS)


def _command() -> click.Command:
    from olav_audit_trail.command import audit

    return audit


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="audit", help="Who did what and when: list, show.", load=_command)]


def _tool_audit(memory: Memory, agent: str, **options: Any) -> Any:
    from olav_audit_trail import AuditMiddleware

    return AuditMiddleware(memory, agent=agent, **options)


@hookimpl
def olav_register_agent_middleware() -> list[MiddlewareSpec]:
    return [
        MiddlewareSpec(
            id="tool_audit",
            framework="langchain",
            purpose="Write an audit row for every tool call, whatever came of it",
            factory=_tool_audit,
            compiled=True,
            priority=90,  # innermost: it sees what really ran
        )
    ]
