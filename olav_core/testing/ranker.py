"""The contract of a ranker, for each stage."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from olav_core.specs import Draft
from olav_core.testing.contract import PluginContract
from olav_core.testing.corpus import TOPICS, tiny_corpus
from olav_core.testing.workspaces import RecallState, recall_state, temporary_workspace

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: More than this on a fused score (cosine plus BM25 share, 0 to 2) would decide by itself.
MAX_BOOST = 1.0
_QUERIES = (
    TOPICS[0].question,
    TOPICS[3].chinese_question,
    '"old man"',
    "(python AND *",
    "🙂",
    "which " * 4000,
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
)
_DEGRADES = "A ranker that raises or gives unusable scores is left out and the recall is degraded."


class RankerContract(PluginContract):
    """Subclass it in a test file and set `plugin`.

    `options`: as in `recall.ranker_options`. `drafts`: memories of the pool; the tiny corpus without them.
    """

    kind: ClassVar[str] = "rankers"
    options: Mapping[str, Any] = {}
    drafts: tuple[Draft, ...] = ()

    @property
    def _ranker(self) -> Any:
        with self.calling(
            f"the factory with {dict(self.options)}",
            "It is called with `recall.ranker_options`, empty when there are none.",
            "Read every option with `options.get(name, default)`.",
        ):
            return self.spec.factory(self.options)

    @contextmanager
    def _memory(self, *, empty: bool = False) -> Iterator[Memory]:
        plugins = () if self.plugin is None else (self.plugin,)
        with temporary_workspace(*plugins) as memory:
            if not empty:
                memory.remember_many(self.drafts or tiny_corpus())
            yield memory

    def _call(self, ranker: Any, state: RecallState) -> Any:
        """Call the stage's method and check what it gives; return it."""
        stage = self.spec.stage
        check: Callable[[Any, RecallState], Any] = getattr(self, f"_{stage}")
        with self.calling(
            f"stage {stage} for {state.query.text[:40]!r} over {state.pool.size} rows",
            _DEGRADES,
            "Take any query and any pool, empty ones too.",
        ):
            return check(ranker, state)

    def _row_scores(self, scores: Any, state: RecallState, method: str) -> Any:
        import numpy as np

        self.require(
            isinstance(scores, np.ndarray) and scores.shape == (state.pool.size,),
            f"{method}() gave {type(scores).__name__} {np.shape(scores)} for {state.pool.size} rows.",
            _DEGRADES,
            "Give one score for every row of the pool: `np.zeros(pool.size, np.float32)` and fill in.",
        )
        self.require(
            scores.dtype == np.float32 and np.isfinite(scores).all(),
            f"{method}() gave {scores.dtype} scores, finite: {bool(np.isfinite(scores).all())}.",
            "float64 costs twice the time over 100,000 rows; NaN orders nothing.",
            "Give finite float32; 0 where you know nothing.",
        )
        return scores

    def _retrieve(self, ranker: Any, state: RecallState) -> Any:
        return self._row_scores(ranker.scores(state.query, state.pool), state, "scores").tolist()

    def _fuse(self, ranker: Any, state: RecallState) -> Any:
        import numpy as np

        zeros = np.zeros(state.pool.size, np.float32)
        alone = next(iter(state.legs.values()), zeros)
        for legs in ({"vector": alone}, {"vector": zeros, "unknown_leg": alone}):
            self._row_scores(ranker.fuse(state.query, state.pool, legs), state, "fuse")
        legs = dict(state.legs) or {"vector": zeros}
        return self._row_scores(ranker.fuse(state.query, state.pool, legs), state, "fuse").tolist()

    def _boost(self, ranker: Any, state: RecallState) -> Any:
        import numpy as np

        rows, amounts = (np.asarray(part) for part in ranker.boosts(state.query, state.pool))
        mine = rows[(rows >= 0) & (rows < state.pool.size)] if len(rows) else rows.astype(np.int64)
        self.require(
            rows.ndim == 1
            and rows.shape == amounts.shape == mine.shape
            and np.issubdtype(mine.dtype, np.integer),
            f"boosts() gave rows {rows.shape} and amounts {amounts.shape} for {state.pool.size} rows.",
            _DEGRADES,
            "Return (rows int64 [m], amounts float32 [m]) with row numbers of this pool.",
        )
        self.require(
            np.isfinite(amounts).all() and (not len(amounts) or float(abs(amounts).max()) <= MAX_BOOST),
            f"boosts() gave amounts up to {float(abs(amounts).max()) if len(amounts) else 0}.",
            "A boost lifts what is found; beyond the scale of the scores it decides alone.",
            f"Bound amounts to {MAX_BOOST:g}; keyword_boost uses 0.25.",
        )
        return rows.tolist(), amounts.tolist()

    def _rerank(self, ranker: Any, state: RecallState) -> Any:
        for candidates in ([], state.candidates[:1], state.candidates):
            scores = [float(score) for score in ranker.rerank(state.query, candidates)]
            self.require(
                len(scores) == len(candidates) and all(map(math.isfinite, scores)),
                f"rerank() gave {len(scores)} scores for {len(candidates)} candidates, or one is not finite.",
                _DEGRADES,
                "Give one finite float per candidate, in their order.",
            )
        return scores

    def _diversify(self, ranker: Any, state: RecallState) -> Any:
        penalties = []
        for n, candidate in enumerate(state.candidates):
            penalty = ranker.penalty(candidate, state.candidates[:n])
            self.require(
                not math.isnan(penalty) and penalty >= 0,
                f"penalty() gave {penalty!r}.",
                "A penalty below zero would lift; NaN is never chosen.",
                "Give 0 or more; math.inf passes the candidate over.",
            )
            self.require(
                n or penalty != math.inf,
                "penalty() passes over the first candidate, with nothing chosen yet.",
                "Every recall would be empty.",
                "Compare with `chosen` only.",
            )
            penalties.append(float(penalty))
        return penalties

    # --- rules -----------------------------------------------------------------------------------

    def test_it_gives_usable_scores_for_any_query(self) -> None:
        with self._memory() as memory:
            for text in _QUERIES:
                self._call(self._ranker, recall_state(memory, text))

    def test_it_takes_an_empty_pool(self) -> None:
        with self._memory(empty=True) as memory:
            self._call(self._ranker, recall_state(memory, "anything"))

    def test_it_is_pure(self) -> None:
        with self._memory() as memory:
            state = recall_state(memory, TOPICS[0].question)
            before = copy.deepcopy(_contents(state))
            ranker = self._ranker
            results = [self._call(each, state) for each in (ranker, ranker, self._ranker)]
            self.require(
                results[0] == results[1] == results[2],
                "three calls with one query and pool gave different results.",
                "Recalls run in parallel and are repeated; `olav why` must tell what happened.",
                "Keep no state between calls; take the time from `query.now`.",
            )
            self.require(
                _same(before, _contents(state)),
                "it changed the pool, the legs or a candidate.",
                "They are shared with the other rankers, the gates and the trace.",
                "Work on copies: `scores.copy()`.",
            )

    def test_a_recall_with_it_is_not_degraded(self) -> None:
        from olav_core.config import Settings

        config: dict[str, Any] = {"ranker_options": {self.spec.id: dict(self.options)}}
        named = [name for name in Settings().recall.rankers if name != self.spec.id]
        if self.spec.stage == "fuse":
            named = [name for name in named if self.registry.ranker(name).stage != "fuse"]
        config["rankers"] = [*named, self.spec.id]
        plugins = () if self.plugin is None else (self.plugin,)
        with temporary_workspace(*plugins, config={"recall": config}) as memory:
            memory.remember_many(self.drafts or tiny_corpus())
            for text in _QUERIES[:2]:
                recall = memory.recall(text, tier="large", log=False)
                self.require(
                    not recall.degraded and recall.items,
                    f"a recall with it gave {len(recall.items)} items; degraded: {recall.degraded or 'no'}.",
                    _DEGRADES,
                    "Mend what the message names.",
                )


def _contents(state: RecallState) -> tuple[Any, ...]:
    pool = state.pool
    arrays = [pool.eligible, pool.category_codes, pool.language_codes, pool.timestamps, pool.confidence]
    candidates = [
        (c.row, c.score, c.fused, c.boost, c.distance, dict(c.leg_scores)) for c in state.candidates
    ]
    return [array.copy() for array in (*arrays, *state.legs.values())], candidates


def _same(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    import numpy as np

    pairs = zip(before[0], after[0], strict=True)
    return all(np.array_equal(a, b) for a, b in pairs) and before[1] == after[1]
