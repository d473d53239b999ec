"""Query capture: questions and the SQL that answered them; a LangChain middleware, an importer, a command."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from olav_core import CommandSpec, MiddlewareSpec, hookimpl

if TYPE_CHECKING:
    import click

    from olav_core import Memory
    from olav_query_capture.capture import QueryCapture as QueryCapture
    from olav_query_capture.imports import import_queries as import_queries
    from olav_query_capture.middleware import QueryCaptureMiddleware as QueryCaptureMiddleware
    from olav_query_capture.run import RanSql as RanSql
    from olav_query_capture.statement import read_statement as read_statement

#: Public name -> its module; they load when asked for.
_HOMES = {
    "QueryCapture": "capture",
    "QueryCaptureMiddleware": "middleware",
    "RanSql": "run",
    "import_queries": "imports",
    "read_statement": "statement",
}
_NEEDS = {"langchain": "langchain", "langchain_core": "langchain", "langgraph": "langchain", "sqlglot": "sql"}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'olav_query_capture' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"olav_query_capture.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        extra = _NEEDS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise ModuleNotFoundError(
            f"olav_query_capture.{name} needs the module {error.name!r}. "
            f"Install it: pip install 'olav-core[{extra}]'.",
            name=error.name,
        ) from error
    globals()[name] = value
    return value


def _command() -> click.Command:
    from olav_query_capture.command import queries

    return queries


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="queries", help="Questions and the SQL that answered them.", load=_command)]


def _query_capture(memory: Memory, agent: str, **options: Any) -> Any:
    from olav_query_capture import QueryCaptureMiddleware

    return QueryCaptureMiddleware(memory, agent=agent, **options)


@hookimpl
def olav_register_agent_middleware() -> list[MiddlewareSpec]:
    return [
        MiddlewareSpec(
            id="query_capture",
            framework="langchain",
            purpose="Keep the SQL that answered a question",
            factory=_query_capture,
            compiled=True,
            priority=60,
        )
    ]
