"""Array types for signatures; plug-ins import them under TYPE_CHECKING."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
