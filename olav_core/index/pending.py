"""Rows that the lexical index on disk does not hold yet, scored in memory exactly as it will score them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from olav_core.text.analyzer import single_characters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: BM25's saturation and length normalisation: tantivy's constants (Robertson and Zaragoza's defaults).
K1 = 1.2
B = 0.75


@frozen
class Asked:
    """A concept of a query. A row holds it when it holds all terms of one of the `ways`.

    `own` are the terms of the query's own word for it: how common that is tells how much the concept says.
    `credit` is how much of its score counts, 0 to 1.
    """

    ways: tuple[tuple[str, ...], ...]
    own: tuple[str, ...] = ()
    credit: float = 1.0

    @property
    def terms(self) -> set[str]:
        return {*self.own, *(term for way in self.ways for term in way)}


@frozen
class CorpusStats:
    """What BM25 knows about the committed index: documents (deleted ones count until merged away) and mean
    length.
    """

    documents: float = 0.0
    mean_length: float = 0.0


@frozen
class LexicalRow:
    """One row for the lexical index: its terms, what filters it, and a digest of all of them."""

    rowid: int
    terms: tuple[str, ...]
    scope: str
    category: str
    digest: int


def idf(documents: float, frequency: float) -> float:
    """Return BM25's inverse document frequency as tantivy computes it: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log(1 + (max(documents - frequency, 0) + 0.5) / (frequency + 0.5))


def concept_idf(documents: float, concept: Asked, frequencies: Mapping[str, int]) -> float:
    """Return the idf of a concept: that of its commonest name, which is as common as its rarest term.

    So a foreign word that few rows hold says no more than the concept does in the language of the others.
    """
    names = (concept.own, *concept.ways) if concept.own else concept.ways
    return idf(documents, max(min(frequencies.get(term, 0) for term in terms) for terms in names))


def stored_length(length: int) -> int:
    """Return the document length that tantivy keeps in one byte (Lucene's SmallFloat: exact below 40, then
    3 significant bits)."""
    if length < 40:
        return length
    over = length - 24
    shift = over.bit_length() - 4
    return 24 + ((over >> shift) << shift)


@define(eq=False)
class PendingRows:
    """Rows not folded into the index yet, with their postings. Cost of a score: the postings it meets."""

    rows: dict[int, LexicalRow] = field(factory=dict)
    _postings: dict[str, dict[int, int]] = field(factory=dict)
    _lengths: dict[int, int] = field(factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def put(self, row: LexicalRow) -> None:
        """Add a row, replacing what was pending under its row id."""
        self.drop(row.rowid)
        self.rows[row.rowid] = row
        self._lengths[row.rowid] = len(row.terms)
        for term, count in Counter(row.terms).items():
            self._postings.setdefault(term, {})[row.rowid] = count

    def drop(self, rowid: int) -> None:
        """Forget a row; one that is not pending is no error."""
        row = self.rows.pop(rowid, None)
        if row is None:
            return
        del self._lengths[rowid]
        for term in set(row.terms):
            posting = self._postings[term]
            del posting[rowid]
            if not posting:
                del self._postings[term]

    def holds(self, term: str) -> bool:
        """Return whether a row holds a term."""
        return term in self._postings

    def words(self, letter: str) -> dict[str, int]:
        """Return the words that begin with an ASCII letter, and how many rows hold each."""
        return {
            term: len(posting)
            for term, posting in list(self._postings.items())
            if term[0] == letter and term.isascii() and term.isalpha()
        }

    def _within(self, character: str) -> dict[int, int]:
        """Return a posting of the rows with a pair that holds a character, or with it alone."""
        terms = [term for term in list(self._postings) if len(term) <= 2 and character in term]
        return {rowid: 1 for term in terms for rowid in list(self._postings.get(term, ()))}

    def scores(
        self, terms: Mapping[str, int], committed: CorpusStats, frequencies: Mapping[str, int]
    ) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Return (row ids, BM25 / (total idf * (k1 + 1))) of the pending rows that hold a term.

        The statistics are those that the index will have once the rows are folded in: committed documents
        plus pending ones plus the fold's stamp document.
        """
        import numpy as np

        documents, mean_length = self._statistics(committed)
        found: dict[int, float] = {}
        total = 0.0
        single = single_characters(terms)
        for term, weight in terms.items():
            posting = list((self._within(term) if single else self._postings.get(term, {})).items())
            term_idf = idf(documents, frequencies.get(term, 0) + len(posting))
            total += weight * term_idf
            for rowid, count in posting:
                length = mean_length if single else stored_length(self._lengths.get(rowid, 1))
                saturation = count / (count + K1 * (1 - B + B * length / mean_length))
                found[rowid] = found.get(rowid, 0.0) + weight * term_idf * saturation
        ids = np.fromiter(found.keys(), dtype=np.uint64, count=len(found))
        scores = np.fromiter(found.values(), dtype=np.float32, count=len(found))
        return ids, scores / np.float32(total or 1.0)

    def concept_scores(
        self, concepts: Sequence[Asked], committed: CorpusStats, frequencies: Mapping[str, int]
    ) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Return (row ids, scores) of the pending rows, as `LexicalSnapshot.search_concepts` will."""
        import numpy as np

        documents, mean_length = self._statistics(committed)
        known = {
            term: frequencies.get(term, 0) + len(self._postings.get(term, ()))
            for concept in concepts
            for term in concept.terms
        }
        found: dict[int, float] = {}
        total = 0.0
        for concept in concepts:
            whole = concept_idf(documents, concept, known)
            total += whole
            best: dict[int, float] = {}
            for terms in concept.ways:
                postings = [dict(self._postings.get(term, ())) for term in terms]
                idfs = [idf(documents, known[term]) for term in terms]
                for rowid in set.intersection(*map(set, postings)):
                    length = stored_length(self._lengths.get(rowid, 1))
                    short = K1 * (1 - B + B * length / mean_length)
                    value = sum(
                        each * posting[rowid] / (posting[rowid] + short)
                        for each, posting in zip(idfs, postings, strict=True)
                    )
                    best[rowid] = max(best.get(rowid, 0.0), concept.credit * whole * value / sum(idfs))
            for rowid, value in best.items():
                found[rowid] = found.get(rowid, 0.0) + value
        ids = np.fromiter(found.keys(), dtype=np.uint64, count=len(found))
        scores = np.fromiter(found.values(), dtype=np.float32, count=len(found))
        return ids, scores / np.float32(total or 1.0)

    def _statistics(self, committed: CorpusStats) -> tuple[float, float]:
        """Return (documents, mean length) that the index will have once these rows are folded in."""
        documents = committed.documents + len(self._lengths) + 1
        tokens = committed.documents * committed.mean_length + sum(list(self._lengths.values())) + 1
        return documents, tokens / documents
