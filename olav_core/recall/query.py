"""The query of one recall, as every ranker and gate sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import field, frozen

from olav_core.errors import EmbedderError

# Named here for the signatures of rankers and gates.
from olav_core.index.pool import Candidate, Pool
from olav_core.records import GLOBAL_SCOPE
from olav_core.specs import CategorySpec, DistanceScale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.recall.lexicons import Lexicons
    from olav_core.recall.token_comparison import TokenComparison
    from olav_core.recall.token_vectors import TokenVectors
    from olav_core.text.lexicon import Translation

__all__ = ["Candidate", "Pool", "Query"]


def _no_vector() -> None:
    return None


@frozen(kw_only=True, eq=False)
class Query:
    """One question to the memory.

    `text` is the user's own words. `terms` are its distinct lexical terms. `now` is seconds since the
    epoch, UTC. `scale` is the embedder's, for canonical distances; `rows` is how many memories are in sight
    (in scope, unexpired). `vector_source()` gives the vector when it is first asked for, so that legs that
    need none do not wait for the embedder. `categories` are the installed ones by id, with the workspace's
    rules.
    """

    text: str
    agent: str
    now: float
    scopes: tuple[str, ...] = (GLOBAL_SCOPE,)
    language: str = "en"
    terms: tuple[str, ...] = ()
    scale: DistanceScale | None = None
    rows: int = 0
    vector_source: Callable[[], NDArray[np.float32] | None] = field(default=_no_vector, repr=False)
    categories: Mapping[str, CategorySpec] = field(factory=dict, repr=False)
    token_source: TokenVectors | None = field(default=None, repr=False)
    lexicons: Lexicons | None = field(default=None, repr=False)

    @cached_property
    def vector(self) -> NDArray[np.float32] | None:
        """The query in the store's centred space, float32 [d], unit length; None when there is none.

        Raises EmbedderError when it could not be embedded.
        """
        return self.vector_source()

    @cached_property
    def translation(self) -> Translation:
        """The query's concepts in other languages, by the lexicons that are installed.

        Raises ConfigError that names file and line of a faulty lexicon.
        """
        from olav_core.text.lexicon import Translation

        return Translation() if self.lexicons is None else self.lexicons.translate(self.text)

    def compare_tokens(self, candidates: Sequence[Candidate]) -> TokenComparison:
        """Return the cosines of the query's tokens with the candidates', in the store's centred token space;
        of no token when token vectors are only wished for and the embedder has none.

        Only for a ranker whose spec says `uses_tokens`. Raises EmbedderError when there are none.
        """
        if self.token_source is None:
            raise EmbedderError(
                "no token vectors are kept here. Say `uses_tokens=True` on the RankerSpec that asks for them."
            )
        return self.token_source.compare(self.text, self.language, candidates)
