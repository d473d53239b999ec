"""Distances: squared L2 in the centred space, and the canonical scale on which gates speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core.specs import DistanceScale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Canonical distances of a true hit and of noise, from the system's description (hits near 0.36, noise from
#: 0.75 on, its gate at 0.65 between them).
HIT, NOISE = 0.36, 0.75


def canonical(distance: float, scale: DistanceScale) -> float:
    """Return the canonical distance of a squared L2 distance >= 0.

    Linear through the embedder's measured anchors, `hit` -> HIT and `noise` -> NOISE, and on beyond them;
    below `hit` linear from 0 -> 0, so that a distance is never negative.
    """
    if distance < scale.hit:
        return HIT * distance / scale.hit
    return HIT + (distance - scale.hit) * (NOISE - HIT) / (scale.noise - scale.hit)


def canonical_array(distances: NDArray[np.float64], scale: DistanceScale) -> NDArray[np.float64]:
    """Return what `canonical` does of every distance; NaN stays NaN."""
    import numpy as np

    near = HIT * distances / scale.hit
    far = HIT + (distances - scale.hit) * (NOISE - HIT) / (scale.noise - scale.hit)
    return np.where(distances < scale.hit, near, far)


def squared(canonical_distance: float, scale: DistanceScale) -> float:
    """Return the squared L2 distance of a canonical one: the inverse of `canonical`."""
    if canonical_distance < HIT:
        return canonical_distance * scale.hit / HIT
    return scale.hit + (canonical_distance - HIT) * (scale.noise - scale.hit) / (NOISE - HIT)
