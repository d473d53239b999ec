"""The resolver: an agent's files and the recalled memories, chosen for one query within one budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field

from olav_core.agents import tier_of
from olav_core.context.context import Context, ContextPart, Layer
from olav_core.context.intent import Evidence, FileIntent
from olav_core.context.static_text import StaticText, read_static, render_file, render_files
from olav_core.errors import PackageError
from olav_core.packages.agents import agent_folder
from olav_core.packages.skill import StaticFile, read_skill
from olav_core.recall.render import estimate_tokens
from olav_core.recall.user_words import user_words
from olav_core.records import clean_text

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.recall.recall import Recall


class ContextResolver:
    """Makes the context of model calls. Thread-safe; it keeps only the vectors of files.

    Order of claims on the budget: files that are always there, the recalled block, files that the query
    means. A file goes in whole or not at all.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._intent = FileIntent(memory)

    def resolve(
        self,
        query: str,
        *,
        agent: str,
        tier: str | None = None,
        model: str | None = None,
        token_budget: int | None = None,
        **recall: Any,
    ) -> Context:
        """Return the context of `query` for `agent`; see Memory.context."""
        memory = self._memory
        chosen = tier_of(agent, memory.settings, tier=tier, model=model)
        budget = memory.settings.context.token_budget[chosen] if token_budget is None else token_budget
        draft = _Draft(left=budget)
        folder = agent_folder(memory.workspace, agent)
        always, meant = self._read(folder, agent, draft)
        for file in always:
            draft.offer("always", file, "static_context", must=True)
        block_budget = min(memory.settings.recall.token_budget[chosen], max(draft.left, 0))
        found = memory.recall(query, agent=agent, tier=chosen, token_budget=block_budget, **recall)
        draft.left -= found.tokens
        self._choose(user_words(clean_text(query)), meant, draft)
        files = render_files([text for layer in ("always", "on_intent") for text in draft.texts[layer]])
        return Context(
            query=found.query,
            agent=agent,
            tier=chosen,
            budget=budget,
            tokens=(estimate_tokens(files) if files else 0) + found.tokens,
            files=files,
            block=found.block,
            parts=(*draft.parts, *_recalled(found)),
            recall=found,
            folder=str(folder or ""),
            warnings=(*draft.warnings, *found.warnings),
        )

    def _read(
        self, folder: Path | None, agent: str, draft: _Draft
    ) -> tuple[list[StaticText], list[StaticText]]:
        if folder is None:
            return [], []
        try:
            skill = read_skill(folder, name=agent)
        except PackageError as error:
            draft.warnings.append(f"No files of {agent!r}: {error}")
            return [], []
        always: list[StaticText] = []
        meant: list[StaticText] = []
        for file in (*skill.static, *skill.references()):
            layer: Layer = "always" if file.mode == "always" else "on_intent"
            if file.mode == "off":
                reason = f"static_context_mode is off in {skill.file}"
                draft.parts.append(ContextPart(layer=layer, name=file.path, included=False, reason=reason))
                continue
            text = self._text(folder, file, layer, draft)
            if text is not None:
                (always if layer == "always" else meant).append(text)
        return always, meant

    def _text(self, folder: Path, file: StaticFile, layer: Layer, draft: _Draft) -> StaticText | None:
        try:
            return read_static(folder, file)
        except PackageError as error:
            draft.parts.append(ContextPart(layer=layer, name=file.path, included=False, reason=str(error)))
            if layer == "always":
                draft.warnings.append(str(error))
            return None

    def _choose(self, query: str, files: Sequence[StaticText], draft: _Draft) -> None:
        if not files:
            return
        if not query.strip():
            for file in files:
                draft.leave_out(file, Evidence(), "the query is blank")
            return
        limit = self._memory.settings.context.meant
        evidence, silent = self._intent.evidence(query, files)
        if silent:
            draft.warnings.append(f"on_intent files are chosen by keywords alone: {silent}.")
        ranked = sorted(zip(files, evidence, strict=True), key=lambda pair: _order(pair[1]))
        nearest = min((why.distance for why in evidence if why.distance is not None), default=None)
        for file, why in ranked:
            if why.found:
                draft.offer("on_intent", file, f"the query says {', '.join(why.found)}", why)
            elif why.distance is None:
                draft.leave_out(file, why, "no keyword of it stands in the query")
            elif why.distance > limit:
                far = f"canonical distance {why.distance:.2f} > {limit:g}"
                draft.leave_out(file, why, f"no keyword of it stands in the query, {far}")
            elif why.distance == nearest:
                draft.offer("on_intent", file, f"nearest, canonical distance {why.distance:.2f}", why)
            else:
                # Files of one team are near one another: distance alone may choose one of them only.
                draft.leave_out(file, why, "no keyword of it stands in the query, and another file is nearer")


@define
class _Draft:
    """A context under way: what is in, why, and the tokens that are left."""

    left: int
    parts: list[ContextPart] = field(factory=list)
    warnings: list[str] = field(factory=list)
    texts: dict[str, list[str]] = field(factory=lambda: {"always": [], "on_intent": []})

    def offer(
        self, layer: Layer, file: StaticText, reason: str, why: Evidence | None = None, *, must: bool = False
    ) -> None:
        """Put a file in if it fits."""
        rendered = render_file(layer, file)
        tokens = estimate_tokens(rendered) + 1
        if not self.texts["always"] and not self.texts["on_intent"]:
            tokens += estimate_tokens(render_files([""]))
        fits = tokens <= self.left
        if fits:
            self.left -= tokens
            self.texts[layer].append(rendered)
        else:
            reason = f"{reason}; but it takes {tokens} tokens and {max(self.left, 0)} are left"
            if must:
                self.warnings.append(
                    f"{file.path} should be in every turn, but takes {tokens} tokens and {max(self.left, 0)} "
                    "are left. Shorten it, or raise context.token_budget."
                )
        self._add(layer, file, why or Evidence(), reason, tokens, fits)

    def leave_out(self, file: StaticText, why: Evidence, reason: str) -> None:
        tokens = estimate_tokens(render_file("on_intent", file))
        self._add("on_intent", file, why, reason, tokens, False)

    def _add(
        self, layer: Layer, file: StaticText, why: Evidence, reason: str, tokens: int, fits: bool
    ) -> None:
        self.parts.append(
            ContextPart(
                layer=layer,
                name=file.path,
                included=fits,
                reason=reason,
                tokens=tokens,
                distance=why.distance,
                keywords=why.found,
            )
        )


def _order(why: Evidence) -> tuple[float, float]:
    return -why.strength, 1e9 if why.distance is None else why.distance


def _recalled(found: Recall) -> list[ContextPart]:
    from olav_core.recall.render import render_memory

    tokens = {item.id: estimate_tokens(render_memory(item)) for item in found.items}
    return [
        ContextPart(
            layer="recalled",
            name=trace.id,
            included=trace.decision == "injected",
            reason=f"{trace.decision}: {trace.reason}",
            tokens=tokens.get(trace.id, 0),
            distance=trace.canonical_distance,
        )
        for trace in sorted(found.trace, key=lambda trace: trace.decision != "injected")
    ]
