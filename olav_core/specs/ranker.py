"""A ranker: a stage that orders candidates, with what the factory of each stage returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from attrs import field, frozen, validators

from olav_core.specs.options import Options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.pool import Candidate, Pool
    from olav_core.recall.query import Query

Stage = Literal["retrieve", "fuse", "boost", "rerank", "diversify"]
STAGES: tuple[Stage, ...] = ("retrieve", "fuse", "boost", "rerank", "diversify")


class Retriever(Protocol):
    """Stage `retrieve`: a score for every row of the pool, float32 [n]; 0 where the leg knows nothing."""

    def scores(self, query: Query, pool: Pool) -> FloatArray: ...


class Fuser(Protocol):
    """Stage `fuse`: one score per row, float32 [n], from the legs' scores by ranker id (>= 1 leg)."""

    def fuse(self, query: Query, pool: Pool, legs: Mapping[str, FloatArray]) -> FloatArray: ...


class Booster(Protocol):
    """Stage `boost`: bounded additions to the fused score, as (rows int64 [m], amounts float32 [m])."""

    def boosts(self, query: Query, pool: Pool) -> tuple[NDArray[np.int64], FloatArray]: ...


class Reranker(Protocol):
    """Stage `rerank`: new scores for the given candidates, one finite float each, in their order."""

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> Sequence[float]: ...


class Diversifier(Protocol):
    """Stage `diversify`: what a candidate loses beside those chosen; `math.inf` passes it over."""

    def penalty(self, candidate: Candidate, chosen: Sequence[Candidate]) -> float: ...


@frozen(kw_only=True)
class RankerSpec:
    """A stage that orders candidates. Stages run in the order of STAGES, within one by `priority`
    (low first), then distribution, then id. `factory(options)` returns the stage's protocol.

    Of a reranker: `depth` is how many of the best candidates it sees; with `needs_record=False` their records
    are not read for it; `uses_tokens` says that it calls `query.compare_tokens`, so that they are kept.
    """

    id: str
    stage: Stage
    purpose: str
    factory: Callable[[Options], Any]
    priority: int = 50
    depth: int = field(default=20, validator=validators.ge(2))
    needs_record: bool = True
    uses_tokens: bool = False
