"""Tools by which an agent writes down decisions, facts and preferences. Needs the extra `langchain`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from olav_core import Memory, OlavError, Remembered, check_scope
from olav_records.record import keep_decision, keep_fact, keep_preference

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

STANDS = (
    "written down, but not in force: a person said otherwise. Tell the user both; only a person puts it in "
    "force, with `olav kb reinstate`."
)


def record_tools(memory: Memory, *, agent: str = "core", scope: str | None = None) -> list[BaseTool]:
    """Return `olav_record_decision`, `olav_record_fact` and `olav_record_preference`.

    They write into `scope` (default: the agent's own). What a model writes is data to later readers, never
    an instruction, and does not put a person's word out of force. Errors are told to the model by field.
    """
    from langchain_core.tools import StructuredTool

    target = check_scope(agent if scope is None else scope)

    def olav_record_decision(
        what: str,
        approver: str,
        why: str = "",
        ticket: str = "",
        decided_on: str = "",
        devices: list[str] | None = None,
    ) -> str:
        """Write down a decision of change control that was made: what, who approved it, why, the ticket, the
        date (YYYY-MM-DD, default today) and the devices that it touches. Never invent an approver."""
        return _told(
            lambda: keep_decision(
                memory, what, approver=approver, why=why, ticket=ticket, decided_on=decided_on,
                devices=devices or (), scope=target, recorded_by=agent,
            )
        )  # fmt: skip

    def olav_record_fact(text: str, subject: str = "", attribute: str = "", value: str = "") -> str:
        """Write down a stable fact as one full sentence. For something that has one value at a time, such as
        an address or an owner, give subject (R1), attribute (loopback) and value too."""
        return _told(
            lambda: keep_fact(
                memory, text, subject=subject, attribute=attribute, value=value, scope=target, origin="agent"
            )
        )

    def olav_record_preference(
        text: str, user: str = "", subject: str = "", attribute: str = "", value: str = ""
    ) -> str:
        """Write down how a person wants things, as one full sentence. For a choice of which one holds at a
        time, give subject (answers), attribute (language) and value too."""
        return _told(
            lambda: keep_preference(
                memory, text, user=user, subject=subject, attribute=attribute, value=value, scope=target,
                origin="agent",
            )
        )  # fmt: skip

    functions = (olav_record_decision, olav_record_fact, olav_record_preference)
    return [
        StructuredTool.from_function(function, metadata={"olav_capture": False}) for function in functions
    ]


def _told(keep: Any) -> str:
    try:
        done: Remembered = keep()
    except OlavError as error:
        return json.dumps({"error": str(error)}, ensure_ascii=False)
    status = "remembered" if done.created else "updated" if done.changed else "known already"
    against = [{"id": c.id, "text": c.text, "outcome": c.outcome} for c in done.conflicts]
    if any(c.outcome == "stands" for c in done.conflicts):
        status = STANDS
    return json.dumps({"status": status, "id": done.id, "conflicts": against}, ensure_ascii=False)
