"""BM25 as one query sees it: what is committed and what is scored in memory, in its scopes and categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from attrs import define, field

from olav_core.errors import StoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.lexical_snapshot import LexicalSnapshot
    from olav_core.index.pending import Alternatives, PendingRows

_Hits = tuple["NDArray[np.uint64]", "FloatArray"]


@define(eq=False)
class LexicalSearch:
    """Searches a state of the lexical index; the answer to the last terms is kept."""

    snapshot: LexicalSnapshot
    pending: PendingRows
    scopes: tuple[str, ...] | None
    categories: tuple[str, ...] | None
    report_broken: Callable[[str], None]
    _last: tuple[Counter[str], _Hits] | None = field(default=None, init=False)

    def hits(self, terms: Iterable[str]) -> _Hits:
        """Return (row ids, scores in (0, 1]) of the rows that hold a term: at most 2,000 committed ones.

        Raises StoreError when the index files are damaged.
        """
        counts = Counter(terms)
        if self._last is None or self._last[0] != counts:
            self._last = counts, self._search(counts)
        return self._last[1]

    def concept_hits(self, concepts: Sequence[Alternatives]) -> _Hits:
        """Return (row ids, scores in (0, 1]) of the rows that hold a concept: at most 2,000 committed ones.

        Raises StoreError when the index files are damaged.
        """
        terms = {term for concept in concepts for alternative in concept for term in alternative}
        return self._read(
            terms,
            partial(self.snapshot.search_concepts, concepts),
            partial(self.pending.concept_scores, concepts, self.snapshot.stats),
        )

    def _search(self, counts: Counter[str]) -> _Hits:
        return self._read(
            counts,
            partial(self.snapshot.search, counts),
            partial(self.pending.scores, counts, self.snapshot.stats),
        )

    def _read(
        self, terms: Collection[str], committed: Callable[..., _Hits], newer: Callable[..., _Hits]
    ) -> _Hits:
        import numpy as np

        from olav_core.index.index_files import BrokenIndexError

        try:
            frequencies = self.snapshot.frequencies(terms)
            rowids, scores = committed(
                frequencies=frequencies, scopes=self.scopes, categories=self.categories
            )
        except BrokenIndexError as error:
            self.report_broken(str(error))
            raise StoreError(
                f"the lexical index cannot be read ({error}). The next recall rebuilds it from the table."
            ) from error
        if len(self.pending):
            stale = np.fromiter(list(self.pending.rows), dtype=np.uint64)
            kept = ~np.isin(rowids, stale)
            fresh, their_scores = newer(frequencies)
            rowids = np.concatenate([rowids[kept], fresh])
            scores = np.concatenate([scores[kept], their_scores])
        return rowids, scores
