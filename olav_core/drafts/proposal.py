"""What passes between a curator and a person: the proposal, and the person's word."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Proposal:
    """A draft as the person sees it. `preview` is to be shown word for word, `question` after it."""

    intent: str
    preview: str
    question: str
    hash: str
    expires_at: str


@frozen(kw_only=True)
class Confirmation:
    """A person's word: the whole message, and the turn of the conversation in which it was said.

    `shown`: the turn in which the preview was shown, for a draft that no conversation proposed; the word must
    be of another. `in_person`: given at a terminal, where the draft was just shown; there are no turns then.
    """

    text: str
    turn: str = ""
    shown: str = ""
    in_person: bool = False
