"""Gate `ticket_state`: drops tickets that are in another state than the category wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import GateSpec, Verdict, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Options, Query


class TicketStateGate:
    """Option `states`: those that stay; default: solved. A memory without a state is no ticket, and stays."""

    def __init__(self, options: Options) -> None:
        self.states = frozenset(options.get("states", ("solved",)))

    def decide(self, query: Query, candidate: Candidate) -> Verdict:
        state = candidate.record.metadata.get("state")
        if state is None:
            return Verdict(True, "has no state")
        return Verdict(state in self.states, f"state is {state}")


@hookimpl
def olav_register_gates() -> list[GateSpec]:
    return [
        GateSpec(
            id="ticket_state", purpose="Drop tickets that nobody can learn from yet", factory=TicketStateGate
        )
    ]
