"""Six registrations as an agent captures them, what a model says of them, and failures of runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from olav_core import Chat, ChatSettings, Memory

SERVICES = ("billing", "search", "mail", "ledger", "report", "invoice")
GOOD = """<think>six samples</think>
Here are the conventions:
- Name services svc-<name>-<site>.
- Addresses come from 10.20.0.0/16.
- Ports are 8001 to 8006.
- Set auth to oauth2."""


def register(memory: Memory, *names: str, first: int = 1, scope: str = "services", **extra: Any) -> None:
    """Capture one successful registration a name."""
    for n, name in enumerate(names, start=first):
        args = {"name": f"svc-{name}-muc", "address": f"10.20.{n}.1{n}", "port": 8000 + n, "auth": "oauth2"}
        memory.capture(tool="register_service", args={**args, **extra}, result={"ok": True}, agent=scope)
    memory.captures.drain()


def chat_at(url: str, **options: Any) -> Chat:
    return Chat(ChatSettings(base_url=f"{url}/v1", model="scripted", retries=0, **options))


def failing(
    minute: int, tool: str, args: dict[str, Any], error: str, now: datetime, run: str
) -> dict[str, Any]:
    time = (now + timedelta(minutes=minute)).isoformat()
    return {"tool": tool, "args": args, "error": error, "time": time, "run": run, "call": f"{run}-{minute}"}
