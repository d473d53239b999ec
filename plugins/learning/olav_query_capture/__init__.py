"""Query capture: questions and the SQL that answered them; a LangChain middleware, an importer, a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olav_core import CommandSpec, MiddlewareSpec, hookimpl, lazy_names

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
_NEEDS = {
    **dict.fromkeys(("langchain", "langchain_core", "langgraph"), "olav-core[langchain]"),
    "sqlglot": "olav-core[sql]",
}
__all__ = sorted(_HOMES)
__getattr__ = lazy_names(__name__, _HOMES, needs=_NEEDS)


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
