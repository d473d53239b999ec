"""The audit trail: who did what and when. A LangChain middleware, `AuditTrail`, the command `olav audit`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olav_core import CommandSpec, MiddlewareSpec, hookimpl

if TYPE_CHECKING:
    import click

    from olav_audit_trail.middleware import AuditMiddleware as AuditMiddleware
    from olav_audit_trail.run_error import RunErrors as RunErrors
    from olav_audit_trail.trail import AuditTrail as AuditTrail
    from olav_core import Memory

#: Public name -> its module; they load when asked for.
_HOMES = {"AuditMiddleware": "middleware", "AuditTrail": "trail", "RunErrors": "run_error"}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'olav_audit_trail' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"olav_audit_trail.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("langchain", "langchain_core", "langgraph"):
            raise
        raise ModuleNotFoundError(
            f"olav_audit_trail.{name} needs LangChain (no module {error.name!r}). "
            "Install it: pip install 'olav-core[langchain]'.",
            name=error.name,
        ) from error
    globals()[name] = value
    return value


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
