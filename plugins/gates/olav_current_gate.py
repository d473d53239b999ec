"""Gate `current`: drops what a later memory superseded, and what failed too often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import GateSpec, Verdict, Verdicts, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Candidates, MemoryRecord, Options, Query


class CurrentGate:
    """Option `min_confidence`: the confidence from which a memory stays; 0 asks for none."""

    def __init__(self, options: Options) -> None:
        self.min_confidence = float(options.get("min_confidence", 0.0))

    def decide(self, query: Query, candidate: Candidate) -> Verdict:
        del query
        fault = self._fault(candidate.record)
        return Verdict(not fault, fault or "in force")

    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        import numpy as np

        del query
        faults = [self._fault(record) for record in candidates.records]
        return Verdicts(np.array([not fault for fault in faults]), faults.__getitem__)

    def _fault(self, record: MemoryRecord) -> str:
        if record.metadata.get("status") == "superseded":
            return f"superseded by {record.metadata.get('superseded_by') or 'a later one'}"
        if record.confidence < self.min_confidence:
            return f"confidence {record.confidence:.2f} < {self.min_confidence:g}"
        return ""


@hookimpl
def olav_register_gates() -> list[GateSpec]:
    return [GateSpec(id="current", purpose="Drop what was superseded or keeps failing", factory=CurrentGate)]
