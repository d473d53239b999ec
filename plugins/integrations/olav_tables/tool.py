"""describe_table as a LangChain tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olav_tables.describer import TableDescriber
from olav_tables.schema import TABLE_SCHEMA

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def describe_table_tool(url: str, **options: Any) -> BaseTool:
    """Return the tool `describe_table(name)` over one database; `options` are those of TableDescriber.

    Needs the extra `langchain`. What went wrong is told to the model; nothing raises into the run.
    """
    from langchain_core.tools import StructuredTool

    describer = TableDescriber(url, **options)

    def describe_table(name: str) -> str:
        return describer(name)

    return StructuredTool.from_function(
        describe_table, description=TABLE_SCHEMA["description"], metadata={"olav_capture": False}
    )
