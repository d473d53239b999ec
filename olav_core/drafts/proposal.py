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

    `in_person`: the host showed this very draft and the person agreed to it there, at a terminal or by a
    button. There are no turns then, and `text` is only for the record.
    """

    text: str
    turn: str = ""
    in_person: bool = False
