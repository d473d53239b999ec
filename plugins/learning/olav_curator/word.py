"""The person's word in a run: what the user said after a preview was shown, and in which turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain.tools import ToolRuntime
from langgraph.types import interrupt

from olav_core import Confirmation, Drafts, MemoryDraft, Proposal, RecordError

#: Keys of `config["configurable"]` by which a host tells the user's words to a stateless sub-agent, whose own
#: messages are written by the agent above it.
TURN_KEY, MESSAGE_KEY = "olav_turn", "olav_user_message"
#: Key of the run's state, beside those two: hashes of the drafts that this conversation showed before.
SHOWN_KEY = "olav_shown"


def turn_of(runtime: ToolRuntime) -> str:
    """Return the turn of a tool call: the host's, else that of CuratorMiddleware, else that of the run."""
    told = _configured(runtime, TURN_KEY) or str(_state(runtime).get(TURN_KEY) or "")
    if told:
        return told
    spoken = user_messages(_state(runtime).get("messages", ()))
    return str(spoken[-1].id or "") if spoken and spoken[-1].id else str(runtime.tool_call_id or "")


def word_of(runtime: ToolRuntime, draft: MemoryDraft) -> Confirmation:
    """Return the user's answer to the preview of `draft`; one that confirms nothing when there is none.

    Raises RecordError when this conversation has not shown the draft.
    """
    told = _configured(runtime, TURN_KEY)
    if told:
        return Confirmation(text=_configured(runtime, MESSAGE_KEY), turn=told)
    state = _state(runtime)
    if state.get(TURN_KEY):
        turn = str(state[TURN_KEY])
        if draft.turn != turn and draft.hash not in (state.get(SHOWN_KEY) or ()):
            raise RecordError(
                f"This conversation has not shown {draft.intent!r} to the user. Call list_memory_drafts "
                "with its intent, show the preview word for word, and wait for the answer."
            )
        return Confirmation(text=str(state.get(MESSAGE_KEY) or ""), turn=turn)
    messages: Sequence[Any] = state.get("messages", ())
    shown = [
        i
        for i, message in enumerate(messages)
        if getattr(message, "type", "") == "tool" and draft.hash in str(message.content)
    ]
    said = user_messages(messages[shown[-1] + 1 :]) if shown else []
    if not said:
        return Confirmation(text="", turn=draft.turn)
    return Confirmation(text=str(said[-1].text), turn=f"after {draft.hash[:12]}")


def asked(drafts: Drafts, runtime: ToolRuntime, intent: str | None) -> tuple[Proposal, Confirmation]:
    """Pause the run until a person has answered (Command(resume="可以")), and return what was shown and said.

    Raises RecordError for another answer, and when the draft changed while the run was paused.
    """
    call = str(runtime.tool_call_id)
    draft = drafts.get(intent)
    # LangGraph runs the tool again after the pause. A draft of another turn was not the one that it showed.
    first = draft.turn != call
    proposal = drafts.present(draft.intent, turn=call) if first else drafts.show(draft)
    answer = interrupt(
        {
            "type": "olav_draft",
            "intent": proposal.intent,
            "preview": proposal.preview,
            "question": proposal.question,
        }
    )
    if first:
        raise RecordError(f"The draft {draft.intent!r} changed while it was shown. Show it again.")
    if not _agrees(drafts, answer):
        raise RecordError(f"The user does not confirm {draft.intent!r}: {str(answer)[:80]!r}. It waits.")
    return proposal, Confirmation(text=str(answer), in_person=True)


def user_messages(messages: Sequence[Any]) -> list[Any]:
    """Return what users said: no summaries, no pinned skills, which LangChain marks."""
    return [
        message
        for message in messages
        if getattr(message, "type", "") == "human" and not message.additional_kwargs.get("lc_source")
    ]


def _agrees(drafts: Drafts, answer: Any) -> bool:
    """Whether a resumed run was given a yes: its words, or a decision as LangChain's interrupts have it."""
    if isinstance(answer, str):
        return drafts.confirms(answer)
    if isinstance(answer, Mapping) and "decisions" in answer:
        decisions = answer["decisions"]
        return isinstance(decisions, Sequence) and len(decisions) == 1 and _agrees(drafts, decisions[0])
    return isinstance(answer, Mapping) and answer.get("type") == "approve"


def _state(runtime: ToolRuntime) -> Mapping[str, Any]:
    return runtime.state if isinstance(runtime.state, dict) else {}


def _configured(runtime: ToolRuntime, key: str) -> str:
    return str((runtime.config or {}).get("configurable", {}).get(key, "") or "")
