"""The pattern extractor: many events of one tool -> one row of expert_knowledge that is kept up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from attrs import evolve, field, frozen

from olav_core import (
    ChatError,
    Draft,
    ErasedTextError,
    Memory,
    MemoryRecord,
    estimate_tokens,
)
from olav_learn import pattern_prompt
from olav_learn.asking import Asks, ask
from olav_learn.claims import Evidence, agreement, examine
from olav_learn.instructions import gives_orders
from olav_learn.samples import choose, facts_of

#: Ids that a row keeps of its events, and earlier texts: enough to ask where it came from.
MAX_SOURCES = 1_000
MAX_HISTORY = 5
#: Half the confidence of an infinite number of samples at so many: six samples that agree give 0.75.
HALF_SAMPLES = 2

Outcome = Literal["written", "updated", "unchanged", "planned", "failed", "forgotten", "few"]


@frozen(kw_only=True)
class PatternItem:
    """What became of one group of events. `planned`: nothing was asked or nothing was to be written.

    `few`: fewer than `min_samples`. `forgotten`: a person erased this pattern, so it stays away.
    """

    tool: str
    scope: str
    events: int
    outcome: Outcome
    id: str = ""
    text: str = ""
    confidence: float = 0.0
    prompt: str = ""
    estimated_tokens: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    calls: int = 0
    faults: tuple[str, ...] = ()


@frozen(kw_only=True)
class PatternReport:
    """What one run did, group by group."""

    applied: bool
    items: tuple[PatternItem, ...] = field(factory=tuple)

    def count(self, outcome: Outcome) -> int:
        return sum(item.outcome == outcome for item in self.items)

    @property
    def calls(self) -> int:
        return sum(item.calls for item in self.items)


def learn_patterns(
    memory: Memory,
    chat: Asks | None,
    *,
    tool: str | None = None,
    scope: str | None = None,
    min_samples: int | None = None,
    window_days: float | None = None,
    dry_run: bool = False,
    now: datetime | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> PatternReport:
    """Extract the conventions of every tool and scope with enough new operations; return the report.

    One call of `chat` a group, and at most one more to mend its answer. A group whose events were all seen
    before costs nothing. Without `chat` the report tells what would be asked; with `dry_run` it is asked and
    nothing is written. `min_samples` and `window_days` default to the settings `learning`.

    A model that fails on one group is counted there and the others go on. Raises the store's and the
    embedder's errors; what was written before stays written.
    """
    settings = memory.settings.learning
    least = settings.min_samples if min_samples is None else min_samples
    since = (now or datetime.now(UTC)) - timedelta(
        days=settings.window_days if window_days is None else window_days
    )
    memory.captures.drain()
    groups: dict[tuple[str, str], list[MemoryRecord]] = {}
    for event in memory.list(category="operational_event", scopes=None if scope is None else [scope]):
        name = str(event.metadata.get("tool", ""))
        if event.timestamp >= since and tool in (None, name):
            groups.setdefault((name, event.scope), []).append(event)
    items = []
    for done, ((name, place), events) in enumerate(sorted(groups.items()), start=1):
        items.append(_learn(memory, chat, name, place, events, least, dry_run))
        if on_progress is not None:
            on_progress(done, len(groups))
    return PatternReport(applied=chat is not None and not dry_run, items=tuple(items))


def _learn(
    memory: Memory,
    chat: Asks | None,
    tool: str,
    scope: str,
    events: Sequence[MemoryRecord],
    least: int,
    dry_run: bool,
) -> PatternItem:
    def item(outcome: Outcome, **fields: object) -> PatternItem:
        return PatternItem(tool=tool, scope=scope, events=len(events), outcome=outcome, **fields)  # type: ignore[arg-type]

    if len(events) < least:
        return item("few")
    identifier = memory.prepare(_draft(tool, scope, "-")).id
    old = memory.store.existing([identifier]).get(identifier)
    ids = [event.id for event in sorted(events, key=lambda event: (event.timestamp, event.id))]
    if old is None and memory.store.tombstones.erased_ids([identifier]):
        return item("forgotten", id=identifier)
    if old is not None and set(ids[-MAX_SOURCES:]) <= set(old.metadata.get("sources", ())):
        return item("unchanged", id=old.id, text=old.text, confidence=old.confidence)
    texts = [str(memory.registry.redact(facts_of(event))[0]) for event in choose(events)]
    system, prompt = pattern_prompt.system(texts), pattern_prompt.prompt(tool, texts, len(events))
    shown = {"prompt": f"{system}\n\n{prompt}", "estimated_tokens": estimate_tokens(system + prompt)}
    if chat is None:
        return item("planned", id=identifier, **shown)
    evidence = Evidence(tuple(f"{tool} {text}" for text in texts))

    def fault_of(bullet: str) -> str:
        return "it gives orders" if gives_orders(bullet) else examine(bullet, evidence).fault

    try:
        answer = ask(chat, system, prompt, fault_of)
    except ChatError as error:
        return item("failed", id=identifier, faults=(str(error),), **shown)
    shown |= {
        "calls": answer.calls,
        "prompt_tokens": answer.prompt_tokens,
        "reply_tokens": answer.reply_tokens,
        "faults": tuple(answer.faults),
    }
    if not answer.bullets:
        return item("failed", id=identifier, **shown)
    findings = [examine(bullet, evidence) for bullet in answer.bullets]
    confidence = round(agreement(findings, len(texts)) * len(events) / (len(events) + HALF_SAMPLES), 3)
    text = "\n".join([pattern_prompt.headline(tool, texts), *(f"- {bullet}" for bullet in answer.bullets)])
    result = {"id": identifier, "text": text, "confidence": confidence, **shown}
    if dry_run:
        return item("planned", **result)
    (written,) = memory.remember_many([_updated(_draft(tool, scope, text), old, ids, events, confidence)])
    if isinstance(written.error, ErasedTextError):
        return item("forgotten", **result)
    if written.error is not None:
        raise written.error
    return item("written" if written.created else "updated", **result)


def _draft(tool: str, scope: str, text: str) -> Draft:
    metadata = {"topic": tool, "group": tool}
    return Draft(text=text, category="expert_knowledge", scope=scope, metadata=metadata, origin="agent")


def _updated(
    draft: Draft,
    old: MemoryRecord | None,
    ids: Iterable[str],
    events: Sequence[MemoryRecord],
    confidence: float,
) -> Draft:
    known = dict(old.metadata) if old is not None else {}
    sources = list(dict.fromkeys([*known.get("sources", ()), *ids]))
    history = list(known.get("history", ()))
    if old is not None and old.text != draft.text:
        history.append(old.text)
    metadata = {
        **draft.metadata,
        "sources": sources[-MAX_SOURCES:],
        "samples": max(len(sources), int(known.get("samples", 0))),
        "history": history[-MAX_HISTORY:],
    }
    newest = max(event.timestamp for event in events)
    return evolve(draft, metadata=metadata, confidence=confidence, timestamp=newest)
