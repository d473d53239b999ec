"""BM25 as one query sees it: what is committed and what is scored in memory, in its scopes and categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING

from attrs import define, field

from olav_core.errors import StoreError
from olav_core.index.index_files import BrokenIndexError
from olav_core.index.lexical_snapshot import MAX_HITS
from olav_core.index.pending import Asked
from olav_core.index.spelling import CREDIT, MAX_GUESSED, may_be_mistyped, nearest
from olav_core.text.analyzer import stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.lexical_snapshot import LexicalSnapshot
    from olav_core.index.pending import PendingRows

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
    _last_concepts: tuple[tuple[Asked, ...], _Hits] | None = field(default=None, init=False)

    def hits(self, terms: Iterable[str]) -> _Hits:
        """Return (row ids, scores in (0, 1]) of the rows that hold a term: at most 2,000 committed ones,
        maybe among them rows of other scopes and categories.

        Raises StoreError when the index files are damaged.
        """
        counts = Counter(terms)
        if self._last is None or self._last[0] != counts:
            self._last = counts, self._search(counts)
        return self._last[1]

    def concept_hits(self, concepts: tuple[Asked, ...]) -> _Hits:
        """Return (row ids, scores in (0, 1]) of the rows that hold a concept: at most 2,000 committed ones.

        Raises StoreError when the index files are damaged.
        """
        if self._last_concepts is None or self._last_concepts[0] != concepts:
            self._last_concepts = concepts, self._search_concepts(concepts)
        return self._last_concepts[1]

    def _search_concepts(self, concepts: tuple[Asked, ...]) -> _Hits:
        return self._read(
            {term for concept in concepts for term in concept.terms},
            partial(self.snapshot.search_concepts, concepts),
            partial(self.pending.concept_scores, concepts, self.snapshot.stats),
        )

    def _search(self, counts: Counter[str]) -> _Hits:
        guesses = self._guesses(counts)
        if not guesses:
            return self._read(
                counts,
                partial(self.snapshot.search, counts),
                partial(self.pending.scores, counts, self.snapshot.stats),
            )
        return self._search_concepts(
            tuple(
                Asked(tuple((word,) for word in guesses[term]), credit=CREDIT)
                if term in guesses
                else Asked(((term,),))
                for term in counts.elements()
            )
        )

    def _guesses(self, terms: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the words that are meant by terms which no memory holds, in whatever scope."""
        doubtful = [term for term in terms if may_be_mistyped(term)]
        if not doubtful:
            return {}
        try:
            counts = self.snapshot.frequencies(doubtful)
            unknown = [term for term in doubtful if not counts[term] and not self.pending.holds(term)]
            known = {term for term in doubtful if term not in unknown}
            found: dict[str, tuple[str, ...]] = {}
            for term in unknown[:MAX_GUESSED]:
                if stem(term) in known:  # another form of a word that is known
                    continue
                words = {**self.pending.words(term[0]), **self.snapshot.words(term[0])}
                if meant := nearest(term, words):
                    found[term] = meant
        except BrokenIndexError:  # the search itself will meet it, and tell
            return {}
        return found

    def _read(
        self, terms: Collection[str], committed: Callable[..., _Hits], newer: Callable[..., _Hits]
    ) -> _Hits:
        import numpy as np

        try:
            frequencies = self.snapshot.frequencies(terms)
            # A filter only keeps others from filling the hits; where they cannot, the pool drops them faster.
            crowded = sum(frequencies.values()) > MAX_HITS
            rowids, scores = committed(
                frequencies=frequencies,
                scopes=self.scopes if crowded else None,
                categories=self.categories if crowded else None,
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
