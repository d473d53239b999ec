"""The scan in parts against one product."""

from __future__ import annotations

import numpy as np
import pytest

from olav_core.index import scan as module
from olav_core.index.scan import scan


@pytest.mark.parametrize("rows", [(0,), (1,), (7, 5), (64, 64, 3)])
@pytest.mark.parametrize("shared", [0, 1_000_000])
@pytest.mark.parametrize("threads", [1, 3])
def test_parts_give_what_one_product_gives(rows, shared, threads, monkeypatch):
    monkeypatch.setattr(module, "PART_ELEMENTS", 100)
    monkeypatch.setattr(module, "SHARED_ELEMENTS", shared)
    monkeypatch.setattr(module, "_threads", lambda: threads)
    module._helpers.cache_clear()
    random = np.random.default_rng(1)
    blocks = [random.standard_normal((count, 16), dtype=np.float32) for count in rows]
    vector = random.standard_normal(16, dtype=np.float32)
    out = np.empty(sum(rows), dtype=np.float32)
    scan(blocks, vector, out)
    module._helpers.cache_clear()
    np.testing.assert_allclose(out, np.concatenate(blocks) @ vector, rtol=1e-5, atol=1e-6)
