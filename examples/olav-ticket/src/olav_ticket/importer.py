"""Importer of `*.ticket.json`: one ticket, or a list of them, as the helpdesk exports them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from olav_core import Draft, DraftFile, Fault, ImporterSpec, MemoryDraft, RecordError, hookimpl

_REQUIRED: tuple[str, ...] = ("number", "symptom", "fix")


def parse_tickets(root: Path, path: Path, raw: bytes) -> tuple[Sequence[Draft], Sequence[Fault]]:
    try:
        found = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        return (), (Fault(str(path), line, f"is not JSON: {error}. Export it again."),)
    tickets = found if isinstance(found, list) else [found]
    drafts, faults = [], []
    for number, ticket in enumerate(tickets, 1):
        missing = _REQUIRED
        if isinstance(ticket, dict):
            missing = tuple(key for key in _REQUIRED if not str(ticket.get(key) or "").strip())
        if missing:
            faults.append(
                Fault(str(path), 0, f"ticket {number} of {len(tickets)} lacks {', '.join(missing)}.")
            )
        else:
            drafts.append(_draft(ticket))
    return drafts, faults


def _draft(ticket: dict[str, Any]) -> Draft:
    metadata = {key: ticket[key] for key in ("product", "state", "codes") if ticket.get(key)}
    return Draft(
        text=f"{ticket['symptom']} → {ticket['fix']}",
        category="ticket",
        scope=ticket.get("team") and f"team:{ticket['team']}",
        metadata={"number": str(ticket["number"]), **metadata},
        origin="document",
        timestamp=ticket.get("closed_at"),
    )


def write_ticket(draft: MemoryDraft) -> str:
    """Return the file of a ticket that a conversation solved: "symptom → fix", numbered by its intent."""
    symptom, arrow, fix = (part.strip() for part in draft.body.partition("→"))
    if not (arrow and symptom and fix):
        raise RecordError("A ticket reads 'symptom → fix'. Propose it again in this form.")
    ticket = {"number": draft.intent, "symptom": symptom, "fix": fix}
    return json.dumps(ticket, ensure_ascii=False, indent=2) + "\n"


@hookimpl
def olav_register_importers() -> list[ImporterSpec]:
    return [
        ImporterSpec(
            id="ticket_files",
            purpose="Tickets as the helpdesk exports them",
            suffixes=(".ticket.json",),
            parse=parse_tickets,
            category="ticket",
            draft_file=DraftFile(folder="tickets", suffix=".ticket.json", write=write_ticket, whole=True),
        )
    ]
