"""The shortlist of a large store: the rows that could win, with exact vectors, as a pool of their own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from olav_core.errors import StoreError
from olav_core.index.matrix import BLOCK_ROWS, FloatRows
from olav_core.index.pool import Pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.pool import KeywordLookup
    from olav_core.text.lexicon import Concept

#: Rows of a category that are taken by each measure: twice what is asked for, and at least these.
LEAST = 64


@frozen
class _ChosenKeywords:
    """The keywords of chosen rows, under their numbers in the shortlist."""

    table: KeywordLookup
    chosen: NDArray[np.int64]

    def hits(self, text: str) -> tuple[NDArray[np.int64], FloatArray]:
        rows, strengths = self.table.hits(text)
        places = np.searchsorted(self.chosen, rows)
        places[places == len(self.chosen)] = 0
        inside = self.chosen[places] == rows if len(self.chosen) else np.zeros(len(rows), dtype=bool)
        return places[inside], strengths[inside]


def shortlist(
    pool: Pool,
    vector: FloatArray | None,
    terms: Sequence[str],
    text: str,
    per_category: int,
    concepts: Sequence[Concept] = (),
) -> Pool:
    """Return a pool of the eligible rows of `pool` that may be among the best `per_category` of a category.

    Those are, of every category, the nearest to `vector` (centred, unit length), the best by their words, the
    best by the sum of both, the same by what `concepts` are called in other languages, and all whose keywords
    stand in `text`. Their vectors are exact.
    """
    found = [pool.keyword_hits(text)[0]]
    count = max(LEAST, 2 * per_category)
    cosine = None if vector is None else pool.cosine(vector)
    if cosine is not None:
        found.append(pool.best(cosine, count))
    with suppress(StoreError):  # the lexical leg meets it again, and tells
        for rows, words in (pool.lexical_rows(terms), pool.concept_rows(concepts)):
            codes = pool.category_codes[rows]
            found.append(rows[_best_by(codes, words, count)])
            if cosine is not None:
                found.append(rows[_best_by(codes, words + cosine[rows], count)])
    return narrowed(pool, np.unique(np.concatenate(found)))


def _best_by(codes: NDArray[np.integer], values: FloatArray, count: int) -> NDArray[np.int64]:
    """Return the places of the `count` greatest values of every code."""
    order = np.lexsort((-values, codes))
    codes = codes[order]
    rank = np.arange(len(codes)) - np.searchsorted(codes, codes)
    return order[rank < count]


def narrowed(pool: Pool, chosen: NDArray[np.int64]) -> Pool:
    """Return a pool of these rows only, in ascending order."""
    vectors = pool.vectors(chosen)
    codes = pool.category_codes[chosen]
    return Pool(
        size=len(chosen),
        dimension=pool.dimension,
        eligible=pool.eligible[chosen],
        categories=pool.categories,
        category_codes=codes,
        languages=pool.languages,
        language_codes=pool.language_codes[chosen],
        timestamps=pool.timestamps[chosen],
        confidence=pool.confidence[chosen],
        vectors=FloatRows(
            [vectors[start : start + BLOCK_ROWS] for start in range(0, len(chosen), BLOCK_ROWS)]
        ),
        groups={pool.categories[code]: np.flatnonzero(codes == code) for code in np.unique(codes)},
        rows=pool._rows.keep(chosen, few=True),
        keywords=_ChosenKeywords(pool._keywords, chosen),
        lexical=pool._lexical,
        records=pool._records,
    )
