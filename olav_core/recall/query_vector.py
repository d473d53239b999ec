"""The query's vector: embedded while the lexical legs run, then brought into the store's space."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from attrs import define, field

from olav_core.embedding.handle import MAX_QUERY_CHARS
from olav_core.errors import EmbedderError, EmbeddingSpaceMismatchError
from olav_core.text.language import language_of

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.embedding.handle import EmbedderHandle
    from olav_core.index.index import RecallIndex
    from olav_core.recall.query import Query
    from olav_core.recall.run import Run


@define(eq=False)
class QueryVectors:
    """Gives the vectors of queries to one index, and refuses an embedder that is not the store's.
    Thread-safe.
    """

    index: RecallIndex
    embedder: EmbedderHandle
    executor: ThreadPoolExecutor
    check_space: Callable[[], None]
    _space_checked: bool = field(default=False, init=False)

    def start(self, words: str, run: Run) -> Future[FloatArray]:
        """Start embedding a query: the raw vector, float32 [d]."""
        if len(words) > MAX_QUERY_CHARS:
            run.warnings.append(
                f"The query has {len(words):,} characters; its first and last {MAX_QUERY_CHARS // 2:,} are "
                "embedded, all of it is searched for."
            )

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

    def refuse_other_space(self, vector: Future[FloatArray]) -> None:
        """Raise EmbeddingSpaceMismatchError when the embedder does not belong to the store.

        Before the first sync: a mismatch leaves every file as it is, the derived ones too.
        """
        if self._space_checked:
            return
        wait([vector])
        error = vector.exception()
        if isinstance(error, EmbeddingSpaceMismatchError):
            raise error
        self._space_checked = error is None

    def check_after_sync(self) -> None:
        """Check the space again: the sync may have brought in another process's re-embed."""
        if self._space_checked:
            self.check_space()

    def centred(self, vector: Future[FloatArray], words: str, run: Run) -> FloatArray:
        """Return the vector in the store's centred space, float32 [d], unit length."""
        with run.stage("embed_wait"):
            raw = vector.result()
        try:
            return self.index.center_query(raw, language_of(words))
        finally:
            self.check_space()  # and again: the means may be another sync's by now


def query_vector(query: Query, run: Run) -> FloatArray | None:
    """Return the query's vector; None, told in `run` once, when it could not be embedded."""
    try:
        return query.vector
    except EmbedderError as error:
        if not run.told(error):
            run.failed("embed", error)
        return None
