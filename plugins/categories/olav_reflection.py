"""Category `reflection`: a constraint learnt from a failed run, and the gate that keeps closed ones out."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from attrs import field, frozen, validators

from olav_core import CategorySpec, GateSpec, GateUse, MemoryRecord, Verdict, Verdicts, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Candidates, Options, Query

Status = Literal["active", "superseded", "resolved"]

#: Canonical distance: true hits lie near 0.36, unrelated prompts from 0.75 on, so the gap is clean.
MAX_DISTANCE = 0.65
TTL = timedelta(days=30)


@frozen(kw_only=True)
class Reflection:
    """`trigger`: when it applies. `cause`: the failure behind it. `superseded_by`: id of the one that
    replaced it. `tool`: the tool that failed, `seen`: how often, `sources`: ids of those failures.
    `closed_at`: when it was superseded or resolved, ISO 8601."""

    trigger: str = ""
    cause: str = ""
    status: Status = "active"
    superseded_by: str = ""
    tool: str = ""
    seen: int = field(default=0, validator=validators.ge(0))
    sources: list[str] = field(factory=list)
    closed_at: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    text = unicodedata.normalize("NFKC", record.text).casefold()
    return " ".join(text.split()).rstrip(".!。")


def embed_text(record: MemoryRecord) -> str:
    trigger = str(record.metadata.get("trigger", ""))
    return "\n".join(filter(None, ["" if trigger in record.text else trigger, record.text]))


def questions(record: MemoryRecord) -> list[str]:
    """The situation that it is about; its own text would find itself."""
    trigger = str(record.metadata.get("trigger", ""))
    return [trigger] if trigger else []


class ActiveGate:
    """Keeps what has no `status` or is `active`: a lesson that was superseded or resolved is not injected."""

    def __init__(self, options: Options) -> None:
        del options

    def decide(self, query: Query, candidate: Candidate) -> Verdict:
        del query
        status = _status(candidate.record)
        return Verdict(status == "active", f"status {status}")

    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        import numpy as np

        del query
        found = [_status(record) for record in candidates.records]
        return Verdicts(np.array([status == "active" for status in found]), lambda i: f"status {found[i]}")


def _status(record: MemoryRecord) -> str:
    return str(record.metadata.get("status", "active"))


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="reflection",
            title="Reflection",
            purpose="What a failed run taught: what not to do when this comes up",
            origins=frozenset({"agent", "user", "directive"}),
            quota=1,
            cap=1,
            # There is one slot and lessons come daily: without the distance gate the nearest one, however
            # far, would stand in every prompt.
            gates=(GateUse("active"), GateUse("distance", {"max": MAX_DISTANCE})),
            ttl=TTL,
            metadata=Reflection,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            questions=questions,
            global_scope=True,
        )
    ]


@hookimpl
def olav_register_gates() -> list[GateSpec]:
    return [GateSpec(id="active", purpose="Drop what was superseded or resolved", factory=ActiveGate)]
