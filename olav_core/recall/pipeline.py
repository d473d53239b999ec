"""The recall pipeline: query -> legs -> fuse -> boost -> gates -> rerank -> select -> render."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, field

from olav_core import clock, tracing
from olav_core.errors import ConfigError, EmbedderError, StoreError
from olav_core.index.shortlist import shortlist
from olav_core.recall.decisions import GONE, Decisions
from olav_core.recall.gating import above_floor, pass_gates
from olav_core.recall.isolation import IsolatedDiversifier
from olav_core.recall.query import Query
from olav_core.recall.query_vector import QueryVectors, query_vector
from olav_core.recall.recall import Recall, RecalledMemory
from olav_core.recall.recalled import recalled
from olav_core.recall.render import block_within, estimate_tokens
from olav_core.recall.reranking import rerank
from olav_core.recall.run import Run
from olav_core.recall.scoring import best_candidates, leg_scores
from olav_core.recall.select import select
from olav_core.recall.trace import Trace
from olav_core.recall.user_words import user_words
from olav_core.records import clean_text
from olav_core.text.analyzer import query_terms
from olav_core.text.language import language_of

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.config import RecallSettings
    from olav_core.embedding.handle import EmbedderHandle
    from olav_core.index.candidates import Candidates
    from olav_core.index.index import RecallIndex
    from olav_core.index.pool import Candidate, Pool
    from olav_core.recall.chain import Chain
    from olav_core.recall.lexicons import Lexicons
    from olav_core.recall.token_vectors import TokenVectors
    from olav_core.specs import CategorySpec, DistanceScale
    from olav_core.text.lexicon import Concept


@define
class RecallPipeline:
    """Runs recalls over one index with one chain. Thread-safe; it keeps nothing between recalls.

    `scale` is that of the embedder, or the workspace's own (`olav calibrate`).
    """

    index: RecallIndex
    embedder: EmbedderHandle
    categories: Mapping[str, CategorySpec]
    chain: Chain
    settings: RecallSettings
    executor: ThreadPoolExecutor
    check_space: Callable[[], None]
    scale: DistanceScale | None = None
    tokens: TokenVectors | None = None
    lexicons: Lexicons | None = None
    _vectors: QueryVectors = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._vectors = QueryVectors(self.index, self.embedder, self.executor, self.check_space)

    def run(
        self,
        text: str,
        *,
        agent: str,
        scopes: Sequence[str],
        tier: str,
        limit: int,
        category: str | None = None,
        token_budget: int | None = None,
        ranking_only: bool = False,
    ) -> Recall:
        """Recall for the user's words `text` in `scopes`.

        `ranking_only` gives the `limit` best rows as ranked: no gates, caps, quotas or budget.
        Failing legs and stages degrade the result and are named in it. Raises
        EmbeddingSpaceMismatchError when the embedder does not belong to the store.
        """
        run = Run()
        words = user_words(clean_text(text))
        about: dict[str, Any] = {
            "query": words,
            "agent": agent,
            "scopes": tuple(scopes),
            "tier": tier,
            "limit": limit,
        }
        if not words or limit < 1:
            run.warnings.append("The query is blank: nothing to recall." if limit else "limit is 0.")
            return self._result(about, run)
        vector = self._vectors.start(words, run)
        self._vectors.refuse_other_space(vector)
        with run.stage("sync"):
            self.index.sync()
            self._vectors.check_after_sync()
            pool = self.index.pool(scopes, now=clock.now().timestamp(), category=category)
        query = self._query(words, vector, pool, run, agent=agent, scopes=scopes)
        pool = self._shortlisted(query, pool, limit, run)
        candidates = self._candidates(query, pool, limit, run)
        if candidates is None:
            return self._result(about, run)
        if ranking_only:
            ranked = candidates.objects()
            if self.chain.rerankers:
                with run.stage("rerank"):
                    ranked = rerank(self.chain, query, pool, ranked, run)
            best = ranked[:limit]
            pool.load(best)
            return self._result(about, run, items=recalled(best, self.categories, run))
        budget = self.settings.token_budget[tier] if token_budget is None else token_budget  # type: ignore[index]
        return self._choose(about, query, pool, candidates, budget, run)

    def candidates(
        self, text: str, *, agent: str, scopes: Sequence[str], limit: int
    ) -> tuple[Query, Pool, list[Candidate]]:
        """Return what reaches the gates for `text` and a `limit` of slots, best first.

        Raises EmbedderError and StoreError where a recall would go on without a leg.
        """
        run = Run()
        vector = self._vectors.start(text, run)
        self._vectors.refuse_other_space(vector)
        self.index.sync()
        pool = self.index.pool(scopes, now=clock.now().timestamp())
        query = self._query(text, vector, pool, run, agent=agent, scopes=scopes)
        pool = self._shortlisted(query, pool, limit, run)
        candidates = self._candidates(query, pool, limit, run)
        if run.degraded:
            raise EmbedderError(f"{text[:80]!r} cannot be asked in full: {'; '.join(run.degraded)}.")
        return query, pool, candidates.objects() if candidates is not None else []

    # --- stages ---------------------------------------------------------------------------------

    def _query(
        self,
        words: str,
        vector: Future[FloatArray],
        pool: Pool,
        run: Run,
        *,
        agent: str,
        scopes: Sequence[str],
    ) -> Query:
        return Query(
            text=words,
            agent=agent,
            scopes=tuple(scopes),
            language=language_of(words),
            terms=tuple(query_terms(words)),
            now=clock.now().timestamp(),
            scale=self.scale,
            rows=int(np.count_nonzero(pool.eligible)),
            vector_source=lambda: self._vectors.centred(vector, words, run),
            categories=self.categories,
            token_source=self.tokens,
            lexicons=self.lexicons,
        )

    def _candidates(self, query: Query, pool: Pool, limit: int, run: Run) -> Candidates | None:
        """Return the best of every category, best first; None when no leg ran."""
        legs = leg_scores(self.chain, query, pool, run)
        vector = query_vector(query, run)
        if not legs:
            return None
        depth = self._depth(limit)
        return best_candidates(self.chain, self.categories, query, vector, pool, legs, depth, run)

    def _depth(self, limit: int) -> int:
        """Candidates of a category."""
        return max(self.settings.candidates_per_category, 2 * limit)

    def _shortlisted(self, query: Query, pool: Pool, limit: int, run: Run) -> Pool:
        """Return what the rankers are shown: of a large store only the rows that could win."""
        if not pool.approximate:
            return pool
        with run.stage("lexical"), suppress(StoreError):  # the leg tells; while the query is being embedded
            pool.lexical_rows(query.terms)
        vector = query_vector(query, run)
        with run.stage("shortlist"):
            depth = max(self._depth(limit), self.chain.depth)
            concepts: Sequence[Concept] = ()
            with suppress(ConfigError):  # of a faulty lexicon; the leg tells
                concepts = query.translation.concepts
            return shortlist(pool, vector, query.terms, query.text, depth, concepts)

    def _choose(
        self,
        about: dict[str, Any],
        query: Query,
        pool: Pool,
        candidates: Candidates,
        budget: int,
        run: Run,
    ) -> Recall:
        decisions = Decisions()
        limit: int = about["limit"]
        with run.stage("gates"):
            kept = pass_gates(self.chain, query, pool, candidates, limit, decisions, run)
            kept = above_floor(kept, self.settings.floor, decisions)
        if self.chain.rerankers:
            with run.stage("rerank"):
                kept = rerank(self.chain, query, pool, kept, run)
        with run.stage("select"):
            diversifiers = [
                IsolatedDiversifier(name, each, run.failed) for name, each in self.chain.diversifiers.items()
            ]
            selection = select(kept, limit, self.categories, diversifiers)
            for row, passed in selection.passed_over.items():
                decisions.tell(row, *passed)
        with run.stage("load"):
            for candidate in selection.chosen:
                decisions.tell(candidate.row, "gone", GONE)  # unless it is loaded
            pool.load(selection.chosen)
        with run.stage("render"):
            items, dropped, block = block_within(recalled(selection.chosen, self.categories, run), budget)
        over = {item.id for item in dropped}
        for slot, candidate in enumerate(selection.chosen, 1):
            if candidate.id in over:
                spent = f"slot {slot}, but the block's {budget} tokens are spent"
                decisions.tell(candidate.row, "budget", spent)
            else:
                decisions.tell(candidate.row, "injected", f"slot {slot}")
        candidates.let_go()
        return self._result(about, run, items=items, block=block, trace=Trace(candidates, decisions))

    # --- results --------------------------------------------------------------------------------

    def _result(
        self,
        about: dict[str, Any],
        run: Run,
        *,
        items: tuple[RecalledMemory, ...] = (),
        block: str = "",
        trace: Trace | None = None,
    ) -> Recall:
        if self.scale is None:
            run.warnings.append(
                f"Embedder {self.embedder.id!r} has no distance scale: distance gates compare raw distances."
            )
        spent = time.perf_counter() - run.started
        run.timings_ms["total"] = spent * 1e3
        if run.traced:
            counts = Counter(candidate.decision for candidate in trace or ())
            told = ", ".join(f"{count} {decision}" for decision, count in counts.items())
            tracing.say(
                "recall", about["agent"], f"{len(items)} items; {told or 'no candidates'}", seconds=spent
            )
        return Recall(
            **about,
            items=items,
            block=block,
            tokens=estimate_tokens(block),
            degraded=tuple(run.degraded),
            warnings=tuple(run.warnings),
            timings_ms={name: round(value, 3) for name, value in run.timings_ms.items()},
            trace=trace or (),
        )
