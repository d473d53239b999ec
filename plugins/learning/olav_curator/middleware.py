"""CuratorMiddleware: what the user really said, for tools and sub-agents; previews that are really shown."""

from __future__ import annotations

import logging
from typing import Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage

from olav_core import Drafts, Memory, MemoryDraft, OlavError, clock
from olav_curator.word import MESSAGE_KEY, SHOWN_KEY, TURN_KEY, user_messages

_log = logging.getLogger("olav.curator")


class CuratorState(AgentState[Any]):
    """The turn, the user's own words in it, and the hashes of the drafts shown before. Code writes it."""

    olav_turn: NotRequired[str]
    olav_user_message: NotRequired[str]
    olav_shown: NotRequired[list[str]]


class CuratorMiddleware(AgentMiddleware[Any, Any, Any]):
    """For an agent that has the curator's tools, or a sub-agent that has them.

    Before a turn it notes the user's last message in the state, which deepagents hands on to sub-agents:
    there the messages are the calling agent's, the note is not. After an answer that should show a draft of
    this turn and does not, it adds the preview and the question: a person confirms what they saw, whatever a
    small model left out. `sub`: in a sub-agent, which takes the note of the agent above.
    """

    state_schema = CuratorState

    def __init__(self, memory: Memory, *, sub: bool = False) -> None:
        super().__init__()
        self._drafts = Drafts(memory)
        self._sub = sub

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Note the user's message, its turn, and what was shown before it."""
        said = user_messages(state["messages"])
        if self._sub or not said:
            return None
        last = said[-1]
        before = state["messages"][: max(i for i, message in enumerate(state["messages"]) if message is last)]
        answers = [_flat(str(message.text)) for message in before if isinstance(message, AIMessage)]
        shown = [
            draft.hash
            for draft in self._pending()
            if any(_flat(self._drafts.show(draft).preview) in answer for answer in answers)
        ]
        return {TURN_KEY: str(last.id or len(said)), MESSAGE_KEY: str(last.text), SHOWN_KEY: shown}

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Add the previews that the answer of this turn lacks."""
        answer, turn = state["messages"][-1], state.get(TURN_KEY)
        if not turn or not isinstance(answer, AIMessage) or answer.tool_calls:
            return None
        text = _flat(str(answer.text))
        lacking = [
            f"{proposal.preview.rstrip()}\n\n{proposal.question}"
            for draft in self._pending()
            if draft.turn == turn and not draft.expired(clock.now())
            for proposal in [self._drafts.show(draft)]
            if _flat(proposal.preview) not in text
        ]
        if not lacking:
            return None
        more = "\n\n".join(lacking)
        content: Any = (
            f"{answer.content}\n\n{more}".lstrip()
            if isinstance(answer.content, str)
            else [*answer.content, {"type": "text", "text": more}]
        )
        return {"messages": [answer.model_copy(update={"content": content})]}

    def _pending(self) -> list[MemoryDraft]:
        try:
            return list(self._drafts.list())
        except (OlavError, OSError) as error:  # no draft counts as shown then; the run itself goes on
            _log.warning("The pending drafts cannot be read: %s", error)
            return []


def _flat(text: str) -> str:
    """Without what rendering changes: blanks, line breaks."""
    return " ".join(text.split())
