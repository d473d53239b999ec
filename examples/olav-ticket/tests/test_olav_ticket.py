"""The contract suite for each part of the plug-in, and the parts together."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import olav_core
from olav_core.testing import (
    CategoryContract,
    GateContract,
    ImporterContract,
    RedactorContract,
    VerbMatcherContract,
    make_candidate,
)

TICKETS = Path(__file__).parents[1] / "tickets"


class TestCategory(CategoryContract):
    plugin = "olav_ticket.category"


class TestStateGate(GateContract):
    plugin = "olav_ticket.state_gate"
    keeps = (make_candidate(metadata={"state": "solved"}), make_candidate("not a ticket"))
    drops = (make_candidate(metadata={"state": "open"}),)


class TestImporter(ImporterContract):
    plugin = "olav_ticket.importer"
    files = {"mail.ticket.json": (TICKETS / "mail.ticket.json").read_bytes()}  # noqa: RUF012
    bodies = ("E-1207 after a restart → clear the spool", "队列一直增长 → 重启中继")


class TestVerbs(VerbMatcherContract):
    plugin = "olav_ticket.verbs"
    calls = {"helpdesk.snooze_ticket": "snooze", "reopenTicket": "reopen", "转派工单": "转派"}  # noqa: RUF012
    reads = ("get_resolved_ticket", "list_tickets", "查询工单")
    failures = ({"ticket": None},)
    successes = ({"ticket": {"number": "T-1"}},)


class TestCustomers(RedactorContract):
    plugin = "olav_ticket.customers"
    secrets = (("E-1203 for CUST-204871", "CUST-204871"),)
    kept = ("our CUSTOMERS", "CUST-1 is too short")


def test_tickets_are_recalled_under_their_own_rules(olav_memory: olav_core.Memory) -> None:
    olav_core.import_directory(olav_memory, TICKETS)
    recall = olav_memory.recall("the mail queue grows and the log says E-1203", tier="large")
    (best, *_) = recall.items
    assert best.text.startswith("[T-101 MailRelay] Mail queue grows")
    assert "[customer]" in best.text
    fates = {trace.id: f"{trace.decision}: {trace.reason}" for trace in recall.trace}
    (open_ticket,) = [row for row in olav_memory.list(category="ticket") if row.metadata["number"] == "T-102"]
    assert fates[open_ticket.id] == "gate: ticket_state: state is open"


def test_a_code_in_the_query_lifts_its_ticket(olav_memory: olav_core.Memory) -> None:
    olav_core.import_directory(olav_memory, TICKETS)
    recall = olav_memory.recall("E-42", tier="small")
    assert "清洁进纸轮" in recall.block
    assert "a workaround, not a fix" in recall.block
    assert recall.trace[0].boost > 0


def test_a_solved_ticket_takes_the_place_of_the_open_one(olav_memory: olav_core.Memory) -> None:
    for state, text in (
        ("open", "VPN drops every hour → not known yet"),
        ("solved", "VPN drops → raise the MTU"),
    ):
        olav_memory.remember(text, category="ticket", metadata={"number": "T-7", "state": state})
    (row,) = olav_memory.list(category="ticket")
    assert row.text == "VPN drops → raise the MTU"
    assert (row.expires_at - row.timestamp) == timedelta(days=365)


def test_tickets_are_gone_after_a_year(olav_memory: olav_core.Memory, olav_clock) -> None:
    olav_memory.remember("VPN drops → raise the MTU", category="ticket", metadata={"number": "T-7"})
    assert olav_memory.recall("VPN drops").items
    olav_clock.advance(timedelta(days=366))
    assert not olav_memory.recall("VPN drops").items
