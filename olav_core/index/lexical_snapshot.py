"""One committed state of the lexical index, and how it is searched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from olav_core.index.index_files import guarded
from olav_core.index.pending import K1, Asked, CorpusStats, concept_idf, idf
from olav_core.text.analyzer import single_characters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Hits per search; beyond them a row's lexical score counts as 0 (5,000 hits cost 2 ms at 100k rows).
MAX_HITS = 2_000
#: The row id of the stamp document: no table row has it.
STAMP_ROW = 2**63


@frozen
class LexicalSnapshot:
    """One committed state of the index: stays readable and unchanged while others commit."""

    searcher: Any
    schema: Any
    stats: CorpusStats
    covered: int
    _words: dict[str, dict[str, int]] = field(factory=dict, init=False, repr=False, eq=False)

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of committed documents that hold each term."""
        with guarded():
            if single_characters(terms):
                return {term: self.searcher.search(self._within(term), 1).count or 0 for term in terms}
            return {term: self.searcher.doc_freq("body", term) for term in terms}

    def words(self, letter: str) -> dict[str, int]:
        """Return the indexed words that begin with an ASCII letter, and how many documents hold each."""
        if letter not in self._words:
            with guarded():
                found = self.searcher.terms_with_prefix("body", letter)
            self._words[letter] = {term: count for term, count in found if term.isascii() and term.isalpha()}
        return self._words[letter]

    def _within(self, character: str) -> Any:
        """Return the query for the pairs that hold a character, and for it alone."""
        from tantivy import Query

        return Query.regex_query(self.schema, "body", f"{character}.|.{character}|{character}")

    def search(
        self,
        terms: Mapping[str, int],
        *,
        frequencies: Mapping[str, int],
        scopes: Collection[str] | None = None,
        categories: Collection[str] | None = None,
        limit: int = MAX_HITS,
    ) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Return (row ids, scores in [0, 1]) of the best `limit` rows, best first.

        `terms` maps a term to its count in the query. Score = BM25 / (total idf * (k1 + 1)): the total runs
        over ALL query terms, those that no row holds too (at frequency 0), so a query that the store knows
        little of scores low; k1 + 1 is the most that one term's tf part reaches. Where the terms are single
        characters, a row that holds one counts as if it held it once and were of mean length.
        """
        import numpy as np
        from tantivy import Occur, Query

        known = {term: weight for term, weight in terms.items() if frequencies.get(term)}
        if not known or (scopes is not None and not scopes) or (categories is not None and not categories):
            return np.empty(0, np.uint64), np.empty(0, np.float32)
        with guarded():
            parts = []
            single = single_characters(terms)
            for term, weight in known.items():
                if single:
                    value = idf(self.stats.documents, frequencies[term])
                    part = Query.const_score_query(self._within(term), value)
                else:
                    part = Query.term_query(self.schema, "body", term, index_option="freq")
                parts.append((Occur.Should, part if weight == 1 else Query.boost_query(part, float(weight))))
            ids, values = self._best(Query.boolean_query(parts), scopes, categories, limit)
        total = sum(weight * idf(self.stats.documents, frequencies.get(t, 0)) for t, weight in terms.items())
        return ids, values / np.float32(total * (K1 + 1))

    def search_concepts(
        self,
        concepts: Sequence[Asked],
        *,
        frequencies: Mapping[str, int],
        scopes: Collection[str] | None = None,
        categories: Collection[str] | None = None,
        limit: int = MAX_HITS,
    ) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Return (row ids, scores in [0, 1]) of the rows that hold all terms of an alternative, best first.

        A concept counts as one term of its commonest name's idf, by the way that fits a row best. The
        score is the sum over the concepts divided by the total of all of them * (k1 + 1).
        """
        import numpy as np
        from tantivy import Occur, Query

        documents = self.stats.documents
        parts, total = [], 0.0
        for concept in concepts:
            whole = concept_idf(documents, concept, frequencies)
            total += whole
            ways = []
            for terms in concept.ways:
                if not all(frequencies.get(term) for term in terms):
                    continue
                boost = whole * concept.credit / sum(idf(documents, frequencies[term]) for term in terms)
                each = [
                    (Occur.Must, Query.term_query(self.schema, "body", term, index_option="freq"))
                    for term in terms
                ]
                ways.append(
                    Query.boost_query(Query.boolean_query(each) if len(each) > 1 else each[0][1], boost)
                )
            if ways:
                parts.append((Occur.Should, Query.disjunction_max_query(ways) if len(ways) > 1 else ways[0]))
        if not parts or (scopes is not None and not scopes) or (categories is not None and not categories):
            return np.empty(0, np.uint64), np.empty(0, np.float32)
        with guarded():
            ids, values = self._best(Query.boolean_query(parts), scopes, categories, limit)
        return ids, values / np.float32(total * (K1 + 1))

    def _best(
        self, wanted: Any, scopes: Collection[str] | None, categories: Collection[str] | None, limit: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        import numpy as np
        from tantivy import Occur, Query

        clauses = [(Occur.Must, wanted)]
        for name, values in (("scope", scopes), ("category", categories)):
            if values is not None:
                clean = [storable(value) for value in values]
                chosen = Query.term_set_query(self.schema, name, clean)
                clauses.append((Occur.Must, Query.const_score_query(chosen, 0.0)))
        query = Query.boolean_query(clauses) if len(clauses) > 1 else wanted
        hits = self.searcher.search(query, limit, count=False).hits
        scores, addresses = zip(*hits, strict=True) if hits else ((), ())
        ids = self.searcher.fast_field_values("row", list(addresses))
        return np.array(ids, dtype=np.uint64), np.array(scores, dtype=np.float32)

    def entries(self, rowids: Collection[int] | None = None) -> dict[int, int]:
        """Return {row id: digest} of every committed row, or of those asked for."""
        from tantivy import Query

        with guarded():
            if rowids is None:
                query = Query.all_query()
            elif rowids:
                query = Query.term_set_query(self.schema, "row", list(rowids))
            else:
                return {}
            hits = self.searcher.search(query, max(self.searcher.num_docs, 1), count=False).hits
            addresses = [address for _, address in hits]
            ids = self.searcher.fast_field_values("row", addresses)
            digests = self.searcher.fast_field_values("digest", addresses)
        return {row: digest for row, digest in zip(ids, digests, strict=True) if row != STAMP_ROW}


def storable(value: str) -> str:
    """Return a string as the index can hold it: lone surrogates become `?`."""
    return value.encode("utf-8", "replace").decode("utf-8")
