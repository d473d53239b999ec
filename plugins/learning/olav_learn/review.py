"""What is learnt waits for a person when `learning.review` is set: as drafts, with those of conversations."""

from __future__ import annotations

from collections.abc import Sequence

from olav_core import Draft, Drafts, Memory, clock

PROPOSER = "olav learn"


def propose(memory: Memory, name: str, drafts: Sequence[Draft], reason: str) -> str:
    """Let rows wait for `olav drafts`; return its name, empty when a person rejected the very same."""
    proposal = Drafts(memory).put(name, drafts, proposer=PROPOSER, reason=reason)
    return proposal.intent if proposal is not None else ""


def waits(memory: Memory, intent: str) -> bool:
    """Whether the draft of that name still waits: it left the folder when it was written or rejected."""
    now = clock.now()
    return any(draft.intent == intent and not draft.expired(now) for draft in Drafts(memory).list())
