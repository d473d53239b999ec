"""Mean passage vectors per language, and the centring they are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray

#: Rows of a language at which its own mean weighs as much as the embedder's generic one.
SHRINKAGE_ROWS = 50
#: Euclidean length that a mean of unit vectors may move before the matrix is centred anew. At 0.01 the
#: work is paid by growth: a store of n rows needs about n / 70 new ones, of another kind, to move that far.
DRIFT = 0.01


class LanguageMeans:
    """Running sums of raw unit passage vectors per language, and the means that the matrix is centred with.

    A language's mean is (sum + k * generic) / (rows + k), k = SHRINKAGE_ROWS. Its generic mean is the
    embedder's for that language, else the average of those it has, else zero. Languages are small codes,
    given out in order of appearance.
    """

    def __init__(self, dimension: int, generic: Mapping[str, FloatArray] | None = None) -> None:
        import numpy as np

        self.dimension = dimension
        self.languages: list[str] = []
        self._codes: dict[str, int] = {}
        # means of another dimension belong to an embedder that the space check refuses anyway
        means = {code: np.asarray(mean, dtype=np.float64) for code, mean in (generic or {}).items()}
        self._generic = {code: mean for code, mean in means.items() if mean.shape == (dimension,)}
        stack = list(self._generic.values())
        self._prior = np.mean(stack, axis=0) if stack else np.zeros(dimension)
        self._sums = np.zeros((0, dimension))
        self._counts = np.zeros(0, dtype=np.int64)
        #: float32 [languages, d]: what the matrix is centred with at present; replaced, never changed.
        self.applied: FloatArray = np.zeros((0, dimension), dtype=np.float32)

    def code(self, language: str) -> int:
        """Return the code of a language, giving it one at first sight."""
        import numpy as np

        found = self._codes.get(language)
        if found is None:
            found = self._codes[language] = len(self.languages)
            self.languages.append(language)
            self._sums = np.vstack([self._sums, np.zeros((1, self.dimension))])
            self._counts = np.append(self._counts, 0)
            prior = self._generic.get(language, self._prior).astype(np.float32)
            self.applied = np.vstack([self.applied, prior[None]])
        return found

    def counts(self) -> dict[str, int]:
        """Return the number of rows per language."""
        return {language: int(self._counts[code]) for language, code in self._codes.items()}

    def add(self, vectors: FloatArray, codes: Sequence[int] | NDArray[np.integer], sign: int = 1) -> None:
        """Count raw rows float32 [n, d] in, or out with `sign=-1`."""
        import numpy as np

        codes = np.asarray(codes)
        for code in np.unique(codes):
            chosen = vectors[codes == code]
            self._sums[code] += sign * chosen.sum(axis=0, dtype=np.float64)
            self._counts[code] += sign * len(chosen)

    def current(self) -> FloatArray:
        """Return the means that the sums give now, float32 [languages, d]."""
        import numpy as np

        if not self.languages:
            return self.applied
        generic = np.stack([self._generic.get(language, self._prior) for language in self.languages])
        weights = (self._counts + SHRINKAGE_ROWS)[:, None]
        return ((self._sums + SHRINKAGE_ROWS * generic) / weights).astype(np.float32)

    def drifted(self) -> bool:
        """Return whether a mean has moved further than DRIFT from the one applied."""
        import numpy as np

        moved = np.linalg.norm(self.current() - self.applied, axis=1)
        return bool((moved > DRIFT).any())

    def mean_of(self, language: str) -> FloatArray:
        """Return the applied mean float32 [d] of a language; one without rows and generic mean gets the
        store's.
        """
        import numpy as np

        code = self._codes.get(language)
        if code is not None and (self._counts[code] or language in self._generic):
            return np.asarray(self.applied[code])
        if language in self._generic or not self._counts.any():
            return self._generic.get(language, self._prior).astype(np.float32)
        shares = (self._counts / self._counts.sum()).astype(np.float32)
        return np.asarray(shares @ self.applied, dtype=np.float32)

    def center_query(self, vector: FloatArray, language: str) -> FloatArray:
        """Return a raw unit query vector float32 [d] centred with its language's mean, unit length again."""
        import numpy as np

        centred = np.asarray(vector, dtype=np.float32) - self.mean_of(language)
        length = float(np.linalg.norm(centred))
        return centred / np.float32(length) if length > 1e-6 else np.zeros_like(centred)


def load_means(path: Path) -> Mapping[str, FloatArray]:
    """Read mean vectors float32 [d] per language from a .npz, as benchmarks/measure_embedder.py writes it."""
    import numpy as np

    with np.load(path) as file:
        return {language: file[language] for language in file.files}
