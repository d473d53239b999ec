"""Late interaction's cosines: every token of a query with every token of its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.token_store import TokenCells

#: Multiplications of one product. From 262,144 on OpenBLAS starts threads that spin for one another, and with
#: a model on the same cores a recall waits a hundred milliseconds for them.
PRODUCT = 200_000


@frozen(eq=False)
class TokenComparison:
    """`cosines`: float32 [tokens of all candidates, one candidate after the other; tokens of the query].
    `counts`: int64 [candidates], each one's tokens; -1 where they are still being made,
    or were too many to be compared.
    """

    cosines: FloatArray
    counts: NDArray[np.int64]

    def best(self) -> FloatArray:
        """Return each token of the query's best cosine with a token of each candidate, float32 [candidates,
        tokens of the query]: 0 for a candidate without tokens, NaN for one that is not compared."""
        import numpy as np

        best = np.zeros((len(self.counts), self.cosines.shape[1]), np.float32)
        best[self.counts < 0] = np.nan
        told = self.counts > 0
        if told.any():
            ends = np.cumsum(self.counts[told])
            best[told] = np.maximum.reduceat(self.cosines, ends - self.counts[told], axis=0)
        return best


def compare(
    query: FloatArray, cells: Sequence[TokenCells | None], means: FloatArray, codes: Sequence[int]
) -> TokenComparison:
    """Compare the query's centred unit token vectors float32 [t, d] with `cells`, which `means` float32
    [m, d] centre: candidate i is freed of the mean `codes[i]`, and counts as of unit length after it."""
    import numpy as np

    counts = np.array([-1 if each is None else len(each.scales) for each in cells], np.int64)
    known = [each for each in cells if each is not None]
    tokens, width = len(query), query.shape[1]
    if not tokens or not known or not counts.clip(0).sum():
        return TokenComparison(np.zeros((0, tokens), np.float32), counts)
    values = np.concatenate([each.values for each in known])
    scales = np.concatenate([each.scales for each in known])
    # cos(q, v - m) = (q·v - q·m) / |v - m|, and |v - m|² = |v|² - 2 v·m + |m|²: no vector is centred itself.
    right = np.ascontiguousarray(np.concatenate([query, means]).T)
    products = np.empty((len(values), right.shape[1]), np.float32)
    squares = np.empty(len(values), np.float32)
    step = max(1, PRODUCT // right.size)
    floats = np.empty((min(step, len(values)), width), np.float32)
    for start in range(0, len(values), step):
        part = values[start : start + step]
        np.copyto(floats[: len(part)], part)
        np.matmul(floats[: len(part)], right, out=products[start : start + step])
        np.einsum("ij,ij->i", floats[: len(part)], floats[: len(part)], out=squares[start : start + step])
    of_query, of_means = query @ means.T, np.einsum("ij,ij->i", means, means)
    if len(means) == 1:
        shared, shift, length = products[:, tokens], of_query.T, of_means
    else:
        own = np.repeat(np.asarray(codes, np.int64)[counts >= 0], counts[counts >= 0])
        shared, shift, length = products[np.arange(len(own)), tokens + own], of_query.T[own], of_means[own]
    squares = scales * scales * squares - 2 * scales * shared + length
    inverse = 1 / np.sqrt(np.maximum(squares, 1e-12))
    cosines = products[:, :tokens] * (scales * inverse)[:, None]
    cosines -= shift * inverse[:, None]
    return TokenComparison(cosines, counts)
