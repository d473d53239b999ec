"""Resources of the MCP server: the categories, the guides, one memory."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from olav_core import OlavError
from olav_mcp.service import MemoryService


def add_resources(server: MCPServer[Any], service: MemoryService) -> None:
    """Add olav://categories, olav://guides and olav://memory/{id} to a server."""
    memory = service.memory

    @server.resource("olav://categories", title="Categories of memory", mime_type="application/json")
    def categories() -> str:
        """Every category: what it is for, who may write it, its quota and cap."""
        return _json(
            [
                {
                    "id": spec.id,
                    "title": spec.title,
                    "purpose": spec.purpose,
                    "origins": sorted(spec.origins),
                    "quota": spec.quota,
                    "cap": spec.cap,
                    "recallable": spec.recallable,
                }
                for spec in memory.categories.values()
            ]
        )

    @server.resource("olav://guides", title="Guides", mime_type="application/json")
    def guides() -> str:
        """The guides that this server's agent follows: id, intent, keywords, scope."""
        scopes = None if service.any_scope else service.own
        records = memory.list(category="usage_guide", scopes=scopes)
        return _json(
            [
                {
                    "id": record.id,
                    "uri": f"olav://memory/{record.id}",
                    "intent": record.metadata.get("intent", ""),
                    "keywords": list(record.metadata.get("keywords", ())),
                    "scope": record.scope,
                }
                for record in records
            ]
        )

    @server.resource("olav://memory/{id}", title="One memory", mime_type="text/plain")
    def one(id: str) -> str:
        """The text of one memory, as a model reads it."""
        try:
            return service.shown(service.get(id))
        except OlavError as error:
            raise ResourceNotFoundError(str(error)) from error


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
