"""The pattern extractor: many events of one tool -> one row of expert_knowledge that is kept up to date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve

from olav_core import ChatError, ChatModel, ChatUnavailableError, Memory, as_chat, estimate_tokens
from olav_learn import pattern_prompt
from olav_learn.asking import ask
from olav_learn.claims import agreement, examine
from olav_learn.event_group import EventGroup, event_groups
from olav_learn.evidence import Evidence
from olav_learn.instructions import gives_orders
from olav_learn.pattern_history import history_of, record
from olav_learn.pattern_report import PatternItem, PatternOutcome, PatternReport
from olav_learn.pattern_row import pattern_draft, updated, write
from olav_learn.review import propose
from olav_learn.samples import choose, facts_of

#: Half the confidence of an infinite number of samples at so many: six samples that agree give 0.75.
HALF_SAMPLES = 2
#: Groups in a row that found no model, after which the others are not tried.
MAX_ABSENT = 2


def learn_patterns(
    memory: Memory,
    chat: ChatModel | Any | None,
    *,
    tool: str | None = None,
    scope: str | None = None,
    min_samples: int | None = None,
    window_days: float | None = None,
    dry_run: bool = False,
    retry: bool = True,
    on_progress: Callable[[int, int], None] | None = None,
) -> PatternReport:
    """Extract the conventions of every tool and scope with enough new operations; return the report.

    `chat`: an `olav_core.Chat`, or a LangChain chat model. One call a group, and at most one more to mend its
    answer; a group whose events were all seen before costs nothing. Without `chat` the report tells what
    would be asked; with `dry_run` it is asked and nothing is written. `min_samples` and `window_days` default
    to the settings `learning`. `retry` asks again about events on which the model failed several times.

    A model that fails on one group is counted there and the others go on. Raises the store's and the
    embedder's errors; what was written before stays written.
    """
    model = as_chat(chat) if chat is not None else None
    least = memory.settings.learning.min_samples if min_samples is None else min_samples
    groups = event_groups(memory, tool=tool, scope=scope, window_days=window_days)
    items: list[PatternItem] = []
    absent = 0
    for done, group in enumerate(groups, start=1):
        try:
            item = _learn(memory, model if absent < MAX_ABSENT else None, group, least, dry_run, retry)
            if absent >= MAX_ABSENT and item.outcome == "planned":
                item = evolve(item, outcome="failed", faults=("not asked: the model could not be reached",))
            elif item.calls:
                absent = 0
        except ChatUnavailableError as error:
            absent += 1
            item = PatternItem(
                tool=group.tool, scope=group.scope, events=len(group.events), outcome="failed", id=group.id,
                faults=(str(error),),
            )  # fmt: skip
            if not dry_run:
                record(memory, group, item, absent=True)
        items.append(item)
        if on_progress is not None:
            on_progress(done, len(groups))
    return PatternReport(applied=model is not None and not dry_run, items=tuple(items))


def _learn(
    memory: Memory, chat: ChatModel | None, group: EventGroup, least: int, dry_run: bool, retry: bool
) -> PatternItem:
    def item(outcome: PatternOutcome, **fields: Any) -> PatternItem:
        return PatternItem(
            tool=group.tool, scope=group.scope, events=len(group.events), outcome=outcome, **fields
        )

    state = group.state(least, history_of(memory, group))
    if state != "due" and not (state == "given up" and retry):
        old = group.row
        return item(state, id=group.id, text=old.text if old else "", confidence=old.confidence if old else 0)
    texts = [str(memory.registry.redact(facts_of(event))[0]) for event in choose(group.samples)]
    count = len(group.samples)
    system, prompt = pattern_prompt.system(texts), pattern_prompt.prompt(group.tool, texts, count)
    shown: dict[str, Any] = {
        "id": group.id,
        "prompt": f"{system}\n\n{prompt}",
        "estimated_tokens": estimate_tokens(system + prompt),
        "planted": len(group.planted),
    }
    if chat is None:
        return item("planned", **shown)
    if not dry_run:
        memory.check_space()  # an answer that could not be stored would have been paid for nothing
    evidence = Evidence(tuple(f"{group.tool} {text}" for text in texts))

    def fault_of(bullet: str) -> str:
        return "it gives orders" if gives_orders(bullet) else examine(bullet, evidence).fault

    try:
        answer = ask(chat, system, prompt, fault_of)
    except ChatUnavailableError:
        raise
    except ChatError as error:
        return _counted(memory, group, item("failed", faults=(str(error),), calls=1, **shown), dry_run)
    shown |= {
        "calls": answer.calls,
        "prompt_tokens": answer.prompt_tokens,
        "reply_tokens": answer.reply_tokens,
        "faults": tuple(answer.faults),
    }
    if not answer.bullets:
        return _counted(memory, group, item("failed", **shown), dry_run)
    findings = [examine(bullet, evidence) for bullet in answer.bullets]
    shown["confidence"] = round(agreement(findings, len(texts)) * count / (count + HALF_SAMPLES), 3)
    text = "\n".join([pattern_prompt.headline(group.tool, texts), *(f"- {line}" for line in answer.bullets)])
    shown["text"] = text
    if dry_run:
        return item("planned", **shown)
    draft = updated(
        pattern_draft(group.tool, group.scope, text), group.row, group.samples, shown["confidence"]
    )
    if memory.settings.learning.review and (group.row is None or group.row.text != text):
        reason = f"{count} operations of {group.tool}, confidence {draft.confidence}"
        waiting = propose(memory, f"pattern {group.tool} {group.scope}", [draft], reason)
        shown["draft"] = waiting
        return _counted(memory, group, item("waiting" if waiting else "rejected", **shown), dry_run)
    return _counted(memory, group, item(write(memory, draft), **shown), dry_run)


def _counted(memory: Memory, group: EventGroup, item: PatternItem, dry_run: bool) -> PatternItem:
    if not dry_run:
        record(memory, group, item)
    return item
