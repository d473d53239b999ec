"""Alignment: linear maps that bring the vectors of one meaning in two languages nearer to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray

#: The entry that holds directions instead of a language's map.
AXES = "axes"
#: Rows that are multiplied at a time: they stay in the processor's cache.
_STEP = 512


class Alignment:
    """Takes raw vectors into the space where languages are compared. Linear, so means go through it too.

    `tables` is what an embedder ships: `axes` float32 [k, d], directions that tell languages apart, at right
    angles and no longer than 1: of every vector's part along one, the square of its length is taken out; and
    per language a map float32 [d, d] for its vectors, `vector @ map`. A language without a map keeps its
    vectors but for the axes. Tables of another dimension are not used: they belong to an embedder that the
    space check refuses anyway.
    """

    def __init__(self, dimension: int, tables: Mapping[str, FloatArray] | None = None) -> None:
        import numpy as np

        found = {name: np.asarray(table, dtype=np.float32) for name, table in (tables or {}).items()}
        axes = found.pop(AXES, None)
        fits = axes is not None and axes.ndim == 2 and axes.shape[1] == dimension
        self._axes = axes if fits else None
        self._maps = {code: table for code, table in found.items() if table.shape == (dimension, dimension)}

    def vector(self, vector: FloatArray, language: str) -> FloatArray:
        """Return a raw vector of a language, float32 [d], aligned."""
        aligned: FloatArray = self.rows(vector[None], [language])[0]
        return aligned

    def rows(self, vectors: FloatArray, languages: Sequence[str]) -> FloatArray:
        """Return raw vectors [n, d] aligned, each by its language; the given ones stay as they are."""
        import numpy as np

        spoken = [code for code in dict.fromkeys(languages) if code in self._maps]
        if self._axes is None and not spoken:
            return vectors
        aligned = np.array(vectors, dtype=np.float32)
        names = np.asarray(languages)
        for start in range(0, len(aligned), _STEP):
            block = aligned[start : start + _STEP]
            if self._axes is not None:
                block -= (block @ self._axes.T) @ self._axes
            for code in spoken:
                chosen = names[start : start + _STEP] == code
                if chosen.any():
                    block[chosen] = block[chosen] @ self._maps[code]
        return aligned
