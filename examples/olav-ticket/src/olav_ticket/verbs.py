"""Verb matcher `ticket_verbs`: helpdesk tools that change a ticket, in English and Chinese."""

from __future__ import annotations

import re
from typing import Any

from olav_core import VerbMatcherSpec, hookimpl

VERBS = ("triage", "snooze", "reopen")
CHINESE_VERBS = ("转派", "重开", "结单")

#: `helpdesk.snooze_ticket`, `reopenTicket`, `triage-ticket`: the verb leads, the ticket follows.
_ENGLISH = re.compile(rf"(?:^|[./:])({'|'.join(VERBS)})[_\- ]?tickets?$", re.IGNORECASE)
_CHINESE = re.compile(rf"^({'|'.join(CHINESE_VERBS)})工单$")


def match(tool_name: str) -> str | None:
    for pattern in (_ENGLISH, _CHINESE):
        found = pattern.search(tool_name)
        if found:
            return found[1].lower()
    return None


def succeeded(result: Any) -> bool | None:
    """The helpdesk answers 200 with `{"ticket": null}` when it did nothing."""
    if isinstance(result, dict) and "ticket" in result:
        return result["ticket"] is not None
    return None


@hookimpl
def olav_register_verb_matchers() -> list[VerbMatcherSpec]:
    return [
        VerbMatcherSpec(
            id="ticket_verbs",
            purpose="Helpdesk tools that change a ticket",
            languages=("en", "zh"),
            match=match,
            succeeded=succeeded,
        )
    ]
