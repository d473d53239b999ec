"""QueryCaptureMiddleware: after each turn of an agent, what it asked a database and what answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.config import get_config

from olav_core import Memory, OlavError, check_scope, last_user_text
from olav_query_capture.capture import Captured, QueryCapture
from olav_query_capture.run import RanSql
from olav_query_capture.statement import UnfitError, read_statement

_log = logging.getLogger("olav.query_capture")
#: Arguments that hold SQL, whatever the tool is called.
SQL_ARGUMENTS: Final = ("sql", "query", "statement", "sql_query", "sql_text", "语句", "查询")


class QueryCaptureMiddleware(AgentMiddleware[Any, Any, Any]):
    """Looks through a turn's messages when it has its answer; reads only, changes no message.

    - `agent`, `scope`: whose queries they are; scope defaults to the agent's own.
    - `dialect`: sqlglot's name of the database's SQL; "" tries the common ones.
    - `tools`: tool name -> the argument that holds SQL. Default: any tool's argument of SQL_ARGUMENTS that
      sqlglot reads as a query of some table.

    A capture that fails never fails the run: it is logged and counted in `failures`. Put it into the
    sub-agent that queries the database: middleware of the main agent does not see its calls.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        agent: str = "core",
        scope: str | None = None,
        dialect: str = "",
        tools: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.tools = []
        self.capture = QueryCapture(
            memory,
            agent=check_scope(agent),
            scope=None if scope is None else check_scope(scope),
            dialect=dialect,
        )
        self.failures = 0
        self.last_error = ""
        self.captured: list[Captured] = []
        self._registry = memory.registry
        self._dialect = dialect
        self._arguments = dict(tools) if tools is not None else None
        self._lock = Lock()

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Capture the turn's query."""
        self._take(state.get("messages", ()), _thread())

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Capture the turn's query, without blocking the event loop."""
        await asyncio.to_thread(self._take, state.get("messages", ()), _thread())

    def _take(self, messages: Sequence[BaseMessage], thread: str) -> None:
        """`captured` tells what became of the last turn's statements."""
        try:
            turn = _turn(messages)
            if not turn or not isinstance(turn[-1], AIMessage) or turn[-1].tool_calls:
                return  # it ended without an answer
            question = last_user_text([{"role": "user", "content": turn[0].content}])
            statements = list(self._statements(turn))
            if question and statements:
                done = self.capture.run(question, statements, str(turn[-1].text), run=thread)
                with self._lock:
                    self.captured = done
        except Exception as error:
            said = (
                f"{type(error).__name__}: {error}" if isinstance(error, OlavError) else type(error).__name__
            )
            with self._lock:
                self.failures += 1
                self.last_error = said
            _log.warning("a turn's query was not captured: %s", said)

    def _statements(self, turn: Sequence[BaseMessage]) -> Iterator[RanSql]:
        wanted: dict[str, Any] = {}
        for message in turn:
            if isinstance(message, AIMessage):
                wanted.update({call["id"]: call for call in message.tool_calls if call["id"]})
            elif isinstance(message, ToolMessage) and (call := wanted.get(message.tool_call_id)) is not None:
                sql = self._sql_of(call["name"], call["args"])
                if sql:
                    read = self._registry.failure_read(message.content, call["name"])
                    failed = message.status == "error" or bool(read)
                    said = str(message.text)
                    yield RanSql(
                        sql=sql,
                        result=said,
                        error=(said or "error") if failed else "",
                        id=message.tool_call_id,
                    )

    def _sql_of(self, tool: str, args: Mapping[str, Any]) -> str:
        if self._arguments is not None:
            value = args.get(self._arguments.get(tool, ""), "")
            return value if isinstance(value, str) else ""
        for name in SQL_ARGUMENTS:
            value = args.get(name)
            if isinstance(value, str):
                try:
                    read_statement(value, self._dialect)
                except UnfitError:
                    continue
                return value
        return ""


def _turn(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """Return the messages from the user's last words on; summaries and notices are human messages too."""
    starts = [
        at for at, message in enumerate(messages)
        if message.type == "human" and not message.additional_kwargs.get("lc_source")
    ]  # fmt: skip
    return messages[starts[-1] :] if starts else ()


def _thread() -> str:
    try:
        configured = get_config().get("configurable") or {}
    except RuntimeError:
        return ""
    return str(configured.get("thread_id") or "")
