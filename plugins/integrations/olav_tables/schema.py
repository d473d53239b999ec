"""describe_table as a function that a model can call, for any framework."""

from __future__ import annotations

from typing import Any, Final

#: The tool as an OpenAI-style function: its name, what it is for, its parameters as JSON schema.
TABLE_SCHEMA: Final[dict[str, Any]] = {
    "name": "describe_table",
    "description": "Show what a database table or view holds: columns, types, keys, row count, the commonest "
    "values of its columns and a few rows. Call it before you write SQL on a table that you have not seen, "
    "and when a query failed because a table or column does not exist. An empty name lists the tables.",
    "parameters": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The table or view, such as netops.v_devices."}
        },
        "required": ["name"],
        "additionalProperties": False,
    },
}
