"""One question to the chat model: its bullets are checked, once mended, or counted as failed."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from olav_core import ChatError, ChatModel
from olav_learn.reply import bullets_of

#: Of the reply that is shown again to be mended.
MAX_SHOWN_CHARS = 4_000


@define
class Answer:
    """The bullets that passed, what was wrong with the others, and what it cost."""

    bullets: list[str] = field(factory=list)
    faults: list[str] = field(factory=list)
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0


def ask(chat: ChatModel, system: str, prompt: str, fault_of: Callable[[str], str]) -> Answer:
    """Return the bullets whose `fault_of` is empty. An answer with faults, or with no bullets, is sent back
    once; of the two answers the one with more sound bullets counts. The last bullet of an answer that ran
    out of tokens is left out. Raises ChatError when the model fails before it gave a sound bullet."""
    answer = Answer()
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    for attempt in range(2):
        try:
            reply = chat.complete(messages)
        except ChatError as error:
            if not answer.bullets:
                raise
            answer.faults.append(str(error))
            break
        answer.calls += 1
        answer.prompt_tokens += reply.prompt_tokens or 0
        answer.reply_tokens += reply.reply_tokens or 0
        bullets = bullets_of(reply.text)
        if reply.cut:
            del bullets[-1:]
        judged = [(bullet, fault_of(bullet)) for bullet in bullets]
        sound = [bullet for bullet, fault in judged if not fault]
        faults = [f"{bullet}: {fault}" for bullet, fault in judged if fault]
        if not bullets:
            cut = " before it ran out of tokens; raise chat.max_tokens" if reply.cut else ""
            faults = [f"the answer holds no list of bullets{cut}"]
        if attempt == 0 or len(sound) > len(answer.bullets):
            answer.bullets, answer.faults = sound, faults
        if not faults:
            break
        messages = [
            *messages[:2],
            {"role": "assistant", "content": reply.text[:MAX_SHOWN_CHARS]},
            {
                "role": "user",
                "content": "These lines cannot be used:\n"
                + "\n".join(f"* {fault}" for fault in faults)
                + "\nAnswer again with the corrected list only: one line per bullet, beginning with '- '.",
            },
        ]
    return answer
