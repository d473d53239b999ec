"""The chat model's part in reflections: failures that do not explain themselves, many in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from attrs import define, evolve, field

from olav_core import ChatError, ChatModel, ChatUnavailableError, Memory, estimate_tokens
from olav_learn import reflection_prompt
from olav_learn.asking import ask
from olav_learn.claims import examine
from olav_learn.evidence import Evidence
from olav_learn.instructions import gives_orders
from olav_learn.lesson import Lesson
from olav_learn.samples import MAX_TOKENS

#: Failures of one call: small models lose count of more.
MAX_BATCH: Final = 12


@define
class Advice:
    """`lessons`: what came of it. `asked`: the failures that were shown and answered; those whose model was
    away are asked again. `failed`: calls whose answer could not be used, or did not come."""

    lessons: list[Lesson] = field(factory=list)
    asked: list[Lesson] = field(factory=list)
    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated_tokens: int = 0
    faults: list[str] = field(factory=list)
    prompts: list[str] = field(factory=list)


def advise(
    memory: Memory,
    chat: ChatModel | None,
    failures: Sequence[Lesson],
    on_progress: Callable[[int, int], None] | None = None,
) -> Advice:
    """Ask about failures in as few calls as fit; without `chat` only tell what would be asked.

    A line counts when it has the form, names a failure, gives no orders, and all that it states occurs there.
    """
    advice = Advice()
    batches = list(_batches(memory, failures))
    for done, (batch, texts) in enumerate(batches):
        if on_progress is not None:
            on_progress(done, len(batches))
        system, prompt = reflection_prompt.system(texts), reflection_prompt.prompt(texts)
        advice.prompts.append(f"{system}\n\n{prompt}")
        advice.estimated_tokens += estimate_tokens(system + prompt)
        if chat is None:
            continue
        try:
            _ask(chat, advice, batch, texts, system, prompt)
        except ChatUnavailableError as error:
            advice.failed += 1
            advice.faults.append(str(error))
            break  # the next batches would wait as long
        except ChatError as error:
            advice.calls += 1
            advice.failed += 1
            advice.faults.append(str(error))
            advice.asked += batch
    return advice


def _ask(
    chat: ChatModel, advice: Advice, batch: Sequence[Lesson], texts: Sequence[str], system: str, prompt: str
) -> None:
    evidence = [Evidence((text,)) for text in texts]

    def fault_of(bullet: str) -> str:
        number, rule = reflection_prompt.numbered(bullet, len(batch))
        if number == 0:
            return ""
        if number < 0:
            return "begin it with the failure's number in brackets, as in [1]"
        if not reflection_prompt.has_form(rule):
            return "say when, what to do or not to do, and because of what"
        return "it gives orders" if gives_orders(rule) else examine(rule, evidence[number - 1]).fault

    answer = ask(chat, system, prompt, fault_of)
    advice.asked += batch
    advice.calls += answer.calls
    advice.prompt_tokens += answer.prompt_tokens
    advice.reply_tokens += answer.reply_tokens
    advice.faults += answer.faults
    advice.failed += not answer.bullets
    taken: set[int] = set()
    for bullet in answer.bullets:
        number, rule = reflection_prompt.numbered(bullet, len(batch))
        if number > 0 and number not in taken:
            taken.add(number)
            advice.lessons.append(evolve(batch[number - 1], text=rule, settled=True))


def _batches(memory: Memory, failures: Sequence[Lesson]) -> Iterator[tuple[list[Lesson], list[str]]]:
    batch: list[Lesson] = []
    texts: list[str] = []
    room = MAX_TOKENS
    for lesson in failures:
        text = str(memory.registry.redact(reflection_prompt.shown(lesson))[0])
        cost = estimate_tokens(text)
        if batch and (len(batch) == MAX_BATCH or cost > room):
            yield batch, texts
            batch, texts, room = [], [], MAX_TOKENS
        batch.append(lesson)
        texts.append(text)
        room -= cost
    if batch:
        yield batch, texts
