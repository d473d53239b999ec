"""Rows as int8: a quarter of the memory, scanned by integer products, exact again where it matters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core.index.scan import in_parts, scan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.index.stored_rows import StoredSnapshot

_MOST = 127
#: Rows of one scope in a block that are worth a group of their own.
GROUP_ROWS = 512


@cache
def kernel() -> Any:
    """Return the library of integer products (NumKong, extra `large`), None when it is not installed."""
    try:
        import numkong
    except ImportError:
        return None
    return numkong


def quantise(rows: FloatArray) -> tuple[NDArray[np.int8], FloatArray]:
    """Return (codes int8 [n, d], scales float32 [n]) so that `codes * scales` is about `rows` [n, d].

    Unit rows of 384 dimensions keep their cosines within 0.01.
    """
    import numpy as np

    scales = np.maximum(np.abs(rows).max(axis=1, initial=0.0), np.float32(1e-12)) / np.float32(_MOST)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales.astype(np.float32)


@frozen(eq=False)
class Group:
    """Quantised rows of a block: those of one scope, or of all the small scopes (`scope` None)."""

    scope: int | None
    rows: NDArray[np.int64]
    codes: Any  # in the kernel's own layout
    scales: FloatArray


def groups_of(first: int, centred: FloatArray, scopes: NDArray[np.integer]) -> list[Group]:
    """Return the groups of the block of centred rows [n, d] that begins with row `first`."""
    import numpy as np

    names, counts = np.unique(scopes, return_counts=True)
    large = names[counts >= GROUP_ROWS].tolist()
    members: list[tuple[int | None, NDArray[np.int64]]] = [
        (name, np.flatnonzero(scopes == name)) for name in large
    ]
    members.append((None, np.flatnonzero(~np.isin(scopes, large))))
    groups = []
    for scope, places in members:
        if len(places):
            codes, scales = quantise(centred[places])
            groups.append(Group(scope, places + first, kernel().dots_pack(codes), scales))
    return groups


@frozen(eq=False)
class QuantisedRows:
    """A state of a QuantisedMatrix: groups of int8 rows, then rows that are still float32.

    `raw` and `raw_tail` hold the stored vectors of the former and the latter rows; `means` float32
    [languages, d] and `languages` [rows] say what each was centred with.
    """

    groups: Sequence[Group]
    tail: Sequence[FloatArray]
    raw: StoredSnapshot
    raw_tail: FloatArray
    means: FloatArray
    languages: NDArray[np.int8]

    #: `cosine` is only near the truth.
    approximate = True

    def cosine(self, vector: FloatArray, size: int, scopes: Collection[int] | None) -> FloatArray:
        """Return about the cosine of the rows in `scopes` (None: all) with a unit vector float32 [d]:
        float32 [size]; the others' may be 0."""
        import numpy as np

        scores = np.zeros(size, dtype=np.float32)
        groups = [
            group for group in self.groups if scopes is None or group.scope is None or group.scope in scopes
        ]
        if groups:
            codes, (scale,) = quantise(vector[None])
            product = kernel().dots_packed

            def work(group: Group) -> None:
                found = np.asarray(product(codes, group.codes))[0].astype(np.float32)
                found *= group.scales
                found *= scale
                scores[group.rows] = found

            in_parts(work, groups, elements=sum(len(group.rows) for group in groups) * len(vector))
        scan(self.tail, vector, scores[len(self.raw) :])
        return scores

    def vector(self, row: int) -> FloatArray:
        """Return the exact centred unit vector of a row, float32 [d]."""
        import numpy as np

        found: FloatArray = self.vectors(np.array([row]))[0]
        return found

    def vectors(self, rows: NDArray[np.int64]) -> FloatArray:
        """Return the exact centred unit vectors of rows, float32 [m, d]."""
        import numpy as np

        found = np.empty((len(rows), self.means.shape[1]), dtype=np.float32)
        late = rows >= len(self.raw)
        found[~late] = self.raw.take(rows[~late])
        found[late] = self.raw_tail[rows[late] - len(self.raw)]
        return centred(found, self.means[self.languages[rows]])


def centred(raw: FloatArray, means: FloatArray) -> FloatArray:
    """Return raw rows less their means, of unit length; a row that is its mean becomes zero."""
    import numpy as np

    rows = raw - means
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows))
    rows *= np.where(lengths > 1e-6, 1 / np.maximum(lengths, 1e-6), 0)[:, None]
    return np.asarray(rows, dtype=np.float32)
