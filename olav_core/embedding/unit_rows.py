"""An embedder's answer, checked: a matrix of the right shape whose rows have unit length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olav_core.errors import EmbedderError

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray


def unit_rows(embedder: str, method: str, answer: Any, count: int, dimension: int | None) -> FloatArray:
    """Return an embedder's answer for `count` texts as unit rows float32 [count, d].

    Raises EmbedderError for one that is no matrix of that shape (`dimension` None takes any), not finite, or
    has a zero row.
    """
    import numpy as np

    try:
        vectors = np.array(answer, np.float32)
    except (ValueError, TypeError) as error:
        raise EmbedderError(f"embedder '{embedder}' gave no numeric matrix from {method}.") from error
    wanted = (count, dimension or (vectors.shape[1] if vectors.ndim == 2 else 0))
    if vectors.shape != wanted or not vectors.size:
        raise EmbedderError(
            f"embedder '{embedder}' gave shape {vectors.shape} from {method}, expected "
            f"({count}, {dimension or 'd'}). Fix the embedder; nothing was stored."
        )
    if not np.isfinite(vectors).all():
        raise EmbedderError(f"embedder '{embedder}' gave a vector that is not finite. Nothing was stored.")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (norms > 0).all():
        raise EmbedderError(f"embedder '{embedder}' gave a zero vector. Nothing was stored.")
    vectors /= norms
    return vectors
