"""The recall pipeline: query -> legs -> fuse -> boost -> gates -> rerank -> select -> render."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import Factory, define

from olav_core import clock, tracing
from olav_core.embedding.distance import canonical
from olav_core.errors import EmbedderError, EmbeddingSpaceMismatchError
from olav_core.recall.isolation import IsolatedDiversifier
from olav_core.recall.query import Query
from olav_core.recall.recall import CandidateTrace, Recall, RecalledMemory
from olav_core.recall.render import estimate_tokens, fit_budget, render_block
from olav_core.recall.select import select
from olav_core.recall.user_words import user_words
from olav_core.records import clean_text
from olav_core.text.analyzer import query_terms
from olav_core.text.language import language_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olav_core.config import RecallSettings
    from olav_core.embedding.handle import EmbedderHandle
    from olav_core.index.index import RecallIndex
    from olav_core.index.pool import Candidate, Pool
    from olav_core.recall.chain import Chain
    from olav_core.specs import CategorySpec, FloatArray

#: Of a longer query only the first and last halves of this many characters are embedded.
MAX_QUERY_CHARS = 4_000
#: Candidates that a reranker sees.
RERANKED = 20
_GONE = ("gone", "it was deleted while it was being recalled")


@define
class _Run:
    """What one recall gathers on its way."""

    degraded: list[str] = Factory(list)
    warnings: list[str] = Factory(list)
    timings_ms: dict[str, float] = Factory(dict)
    started: float = Factory(time.perf_counter)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - began
            self.timings_ms[name] = seconds * 1e3
            tracing.say("stage", name, seconds=seconds)

    def failed(self, what: str, error: Exception) -> None:
        self.degraded.append(f"{what}: {type(error).__name__}: {error}")
        tracing.say("failed", what, f"{type(error).__name__}: {error}")


@define
class RecallPipeline:
    """Runs recalls over one index with one chain. Thread-safe; it keeps nothing between recalls."""

    index: RecallIndex
    embedder: EmbedderHandle
    categories: Mapping[str, CategorySpec]
    chain: Chain
    settings: RecallSettings
    executor: ThreadPoolExecutor
    check_space: Callable[[], None]
    _space_checked: bool = False

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

        `ranking_only` gives the `limit` best rows in fused order: no gates, caps, quotas or budget.
        Failing legs and stages degrade the result and are named in it. Raises
        EmbeddingSpaceMismatchError when the embedder does not belong to the store.
        """
        run = _Run()
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
        vector = self._embed(words, run)
        self._refuse_other_space(vector)
        with run.stage("sync"):
            self.index.sync()
            pool = self.index.pool(scopes, now=clock.now().timestamp(), category=category)
        query = Query(
            text=words,
            agent=agent,
            scopes=tuple(scopes),
            language=language_of(words),
            terms=tuple(query_terms(words)),
            now=clock.now().timestamp(),
            vector_source=lambda: self._centred(vector, words, run),
        )
        legs = self._legs(query, pool, run)
        query_vector = self._query_vector(query, run)
        if not legs:
            return self._result(about, run)
        candidates = self._candidates(query, query_vector, pool, legs, limit, run)
        if ranking_only:
            best = candidates[:limit]
            pool.load(best)
            return self._result(about, run, items=self._items(best, run))
        budget = self.settings.token_budget[tier] if token_budget is None else token_budget  # type: ignore[index]
        return self._choose(about, query, pool, candidates, budget, run)

    # --- stages ---------------------------------------------------------------------------------

    def _embed(self, words: str, run: _Run) -> Future[FloatArray]:
        """Start embedding the query while the lexical leg runs."""
        if len(words) > MAX_QUERY_CHARS:
            half = MAX_QUERY_CHARS // 2
            run.warnings.append(
                f"The query has {len(words):,} characters; its first and last {half:,} are embedded, "
                "all of it is searched for."
            )
            words = words[:half] + "\n" + words[-half:]

        def embed() -> FloatArray:
            began = time.perf_counter()
            self.check_space()
            raw = self.embedder.query(words)
            run.timings_ms["embed"] = (time.perf_counter() - began) * 1e3
            return raw

        if not self.embedder.knows(words):
            return self.executor.submit(embed)
        known: Future[FloatArray] = Future()  # another thread would only have to be waited for
        try:
            known.set_result(embed())
        except Exception as error:
            known.set_exception(error)
        return known

    def _refuse_other_space(self, vector: Future[FloatArray]) -> None:
        """Before the first sync: a mismatch leaves every file as it is, the derived ones too."""
        if self._space_checked:
            return
        wait([vector])
        error = vector.exception()
        if isinstance(error, EmbeddingSpaceMismatchError):
            raise error
        self._space_checked = error is None

    def _centred(self, vector: Future[FloatArray], words: str, run: _Run) -> FloatArray:
        with run.stage("embed_wait"):
            raw = vector.result()
        try:
            return self.index.center_query(raw, language_of(words))
        finally:
            self.check_space()  # again: a sync may have brought in another process's re-embed

    def _legs(self, query: Query, pool: Pool, run: _Run) -> dict[str, FloatArray]:
        legs: dict[str, FloatArray] = {}
        waited_before = 0.0
        for name, leg in self.chain.legs.items():
            try:
                with run.stage(name):
                    legs[name] = _row_scores(leg.scores(query, pool), pool)
            except EmbeddingSpaceMismatchError:
                raise
            except Exception as error:
                run.failed(name, error)
            waited = run.timings_ms.get("embed_wait", 0.0)
            run.timings_ms[name] -= waited - waited_before
            waited_before = waited
        return legs

    def _query_vector(self, query: Query, run: _Run) -> FloatArray | None:
        try:
            return query.vector
        except EmbedderError as error:
            if not any(str(error) in line for line in run.degraded):
                run.failed("embed", error)
            return None

    def _candidates(
        self,
        query: Query,
        query_vector: FloatArray | None,
        pool: Pool,
        legs: Mapping[str, FloatArray],
        limit: int,
        run: _Run,
    ) -> list[Candidate]:
        """Return the best rows of every category, by falling score."""
        with run.stage("fuse"):
            try:
                fused = _row_scores(self.chain.fuser.fuse(query, pool, legs), pool)
            except Exception as error:
                run.failed("fuse", error)
                fused = next(iter(legs.values()))
        with run.stage("boost"):
            boosts = self._boosts(query, pool, run)
            scores = fused + boosts
        with run.stage("candidates"):
            candidates = pool.top(scores, per_category=max(self.settings.candidates_per_category, 2 * limit))
            # What no leg knows anything of is no candidate: a quota would take it for a poor match.
            candidates = [c for c in candidates if boosts[c.row] or any(leg[c.row] for leg in legs.values())]
            rows = np.fromiter((candidate.row for candidate in candidates), dtype=np.int64)
            distances: Sequence[float | None] = [None] * len(candidates)
            if query_vector is not None and candidates:  # an empty index does not know its dimension
                distances = np.maximum(2.0 - 2.0 * pool.cosine(query_vector)[rows], 0.0).tolist()
            scale = self.embedder.scale
            keywords = dict(zip(*(found.tolist() for found in pool.keyword_hits(query.text)), strict=True))
            leg_scores = _by_candidate({name: leg[rows].tolist() for name, leg in legs.items()})
            leg_ranks = _by_candidate({name: _ranks(leg[rows]) for name, leg in legs.items()})
            columns = zip(
                candidates, fused[rows].tolist(), boosts[rows].tolist(), distances, leg_scores, leg_ranks,
                strict=True,
            )  # fmt: skip
            for candidate, score, boost, distance, own_scores, own_ranks in columns:
                candidate.fused, candidate.boost = score, boost
                candidate.leg_scores, candidate.leg_ranks = own_scores, own_ranks
                candidate.keyword_strength = keywords.get(candidate.row, 0.0)
                if distance is not None:
                    candidate.distance = distance
                    candidate.canonical_distance = canonical(distance, scale) if scale else None
        return candidates

    def _boosts(self, query: Query, pool: Pool, run: _Run) -> FloatArray:
        """Return the sum of all boosts per row; a booster reaches only categories that name it."""
        total = np.zeros(pool.size, dtype=np.float32)
        for name, booster in self.chain.boosters.items():
            # A category whose plug-in is gone is still in the pool, though none of its rows is eligible.
            boosts = [self.categories[c].boosts if c in self.categories else () for c in pool.categories]
            allowed = [name in names for names in boosts]
            try:
                rows, amounts = booster.boosts(query, pool)
                if not np.isfinite(amounts).all():
                    raise ValueError("a boost is not finite")
                mine = (
                    np.asarray(allowed, dtype=bool)[pool.category_codes[rows]]
                    if len(rows)
                    else np.zeros(0, bool)
                )
                np.add.at(total, rows[mine], amounts[mine])
            except Exception as error:
                run.failed(name, error)
        return total

    def _choose(
        self,
        about: dict[str, Any],
        query: Query,
        pool: Pool,
        candidates: list[Candidate],
        budget: int,
        run: _Run,
    ) -> Recall:
        decisions: dict[int, tuple[str, str]] = {}
        limit: int = about["limit"]
        with run.stage("gates"):
            kept = self._gated(query, pool, candidates, limit, decisions, run)
            kept = self._above_floor(kept, decisions)
        if self.chain.rerankers:
            with run.stage("rerank"):
                pool.load(kept[:RERANKED])
                kept = self._reranked(query, kept, run)
        with run.stage("select"):
            diversifiers = [
                IsolatedDiversifier(name, each, run.failed) for name, each in self.chain.diversifiers.items()
            ]
            selection = select(kept, limit, self.categories, diversifiers)
            decisions |= selection.passed_over
        with run.stage("load"):
            decisions |= {candidate.row: _GONE for candidate in selection.chosen}  # unless it is loaded
            pool.load(selection.chosen)
        with run.stage("render"):
            items, dropped = fit_budget(self._items(selection.chosen, run), budget)
            block = render_block(items)
        over = {item.id for item in dropped}
        for slot, candidate in enumerate(selection.chosen, 1):
            decisions[candidate.row] = (
                ("budget", f"slot {slot}, but the block's {budget} tokens are spent")
                if candidate.id in over
                else ("injected", f"slot {slot}")
            )
        return self._result(about, run, items=items, block=block, trace=_trace(candidates, decisions))

    def _gated(
        self,
        query: Query,
        pool: Pool,
        candidates: Sequence[Candidate],
        limit: int,
        decisions: dict[int, tuple[str, str]],
        run: _Run,
    ) -> list[Candidate]:
        """Drop what a gate of its category drops; a gate that raises drops too (fail closed) and degrades."""
        gated = [candidate for candidate in candidates if self.chain.gates[candidate.category]]
        pool.prefetch([*gated, *candidates[: 2 * limit]])  # one read, with most of what will be chosen
        gone = {item.row for item in gated} - {item.row for item in pool.load(list(gated))}
        kept = []
        for candidate in candidates:
            if candidate.row in gone:
                decisions[candidate.row] = _GONE
                continue
            for name, gate in self.chain.gates[candidate.category].items():
                try:
                    verdict = gate.decide(query, candidate)
                    keep, reason = verdict.keep, verdict.reason
                except Exception as error:
                    run.failed(f"gate {name}", error)
                    decisions[candidate.row] = ("gate", f"{name} failed: {error!r}")
                    break
                if not keep:
                    decisions[candidate.row] = ("gate", f"{name}: {reason}")
                    break
            else:
                kept.append(candidate)
        return kept

    def _above_floor(
        self, candidates: list[Candidate], decisions: dict[int, tuple[str, str]]
    ) -> list[Candidate]:
        """Drop what scores below a share of the best: quotas must not pull in padding."""
        if not candidates:
            return candidates
        floor = self.settings.floor * max(candidates[0].score, 0.0)
        for candidate in candidates:
            if candidate.score < floor:
                decisions[candidate.row] = ("floor", f"score {candidate.score:.3f} < {floor:.3f}")
        return [candidate for candidate in candidates if candidate.score >= floor]

    def _reranked(self, query: Query, candidates: list[Candidate], run: _Run) -> list[Candidate]:
        """Return the candidates in the rerankers' order; a failing reranker leaves the order as it was."""
        head, tail = candidates[:RERANKED], candidates[RERANKED:]
        for name, reranker in self.chain.rerankers.items():
            if len(head) < 2:
                break
            try:
                scores = [float(score) for score in reranker.rerank(query, head)]
                if len(scores) != len(head) or not all(map(math.isfinite, scores)):
                    raise ValueError(f"{len(scores)} scores for {len(head)} candidates, or one is not finite")
            except Exception as error:
                run.failed(name, error)
                continue
            for candidate, score in zip(head, scores, strict=True):
                candidate.score = score
            head.sort(key=lambda candidate: -candidate.score)
        return head + tail

    # --- results --------------------------------------------------------------------------------

    def _items(self, candidates: Sequence[Candidate], run: _Run) -> tuple[RecalledMemory, ...]:
        return tuple(
            RecalledMemory(
                id=candidate.id,
                category=candidate.category,
                scope=candidate.record.scope,
                text=self._rendered(candidate, run),
                score=candidate.score,
                distance=candidate.distance,
                canonical_distance=candidate.canonical_distance,
                record=candidate.record,
            )
            for candidate in candidates
        )

    def _rendered(self, candidate: Candidate, run: _Run) -> str:
        """Return what the model reads; a category whose `render` fails is shown by its plain text."""
        record = candidate.record
        try:
            text = self.categories[candidate.category].render(record)
            if not isinstance(text, str):
                raise TypeError(f"render returned {type(text).__name__}, not a string")
        except Exception as error:
            run.failed(f"render {candidate.category}", error)
            return record.text
        return text

    def _result(
        self,
        about: dict[str, Any],
        run: _Run,
        *,
        items: tuple[RecalledMemory, ...] = (),
        block: str = "",
        trace: tuple[CandidateTrace, ...] = (),
    ) -> Recall:
        if self.embedder.scale is None:
            run.warnings.append(
                f"Embedder {self.embedder.id!r} has no distance scale: distance gates compare raw distances."
            )
        spent = time.perf_counter() - run.started
        run.timings_ms["total"] = spent * 1e3
        counts = Counter(candidate.decision for candidate in trace)
        told = ", ".join(f"{count} {decision}" for decision, count in counts.items())
        tracing.say("recall", about["agent"], f"{len(items)} items; {told or 'no candidates'}", seconds=spent)
        return Recall(
            **about,
            items=items,
            block=block,
            tokens=estimate_tokens(block),
            degraded=tuple(run.degraded),
            warnings=tuple(run.warnings),
            timings_ms={name: round(value, 3) for name, value in run.timings_ms.items()},
            trace=trace,
        )


def _row_scores(scores: FloatArray, pool: Pool) -> FloatArray:
    """Return a ranker's scores as they are, or raise ValueError: not one finite number per row."""
    if np.shape(scores) != (pool.size,):
        raise ValueError(f"gave scores of shape {np.shape(scores)} for {pool.size} rows")
    if not np.isfinite(scores).all():
        raise ValueError("gave a score that is not finite")
    return scores


def _by_candidate(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return one mapping per candidate of values by leg."""
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _ranks(scores: FloatArray) -> list[int | None]:
    """Return each score's rank from 1, None where it is not positive."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    pairs = zip(ranks.tolist(), (scores > 0).tolist(), strict=True)
    return [rank if positive else None for rank, positive in pairs]


def _trace(
    candidates: Sequence[Candidate], decisions: Mapping[int, tuple[str, str]]
) -> tuple[CandidateTrace, ...]:
    outranked = ("outranked", "the slots went to better ones")
    return tuple(
        CandidateTrace(
            id=candidate.id,
            category=candidate.category,
            scope=candidate.scope,
            leg_ranks=candidate.leg_ranks,
            leg_scores=candidate.leg_scores,
            fused=candidate.fused,
            boost=candidate.boost,
            score=candidate.score,
            distance=candidate.distance,
            canonical_distance=candidate.canonical_distance,
            decision=decisions.get(candidate.row, outranked)[0],  # type: ignore[arg-type]
            reason=decisions.get(candidate.row, outranked)[1],
        )
        for candidate in candidates
    )
