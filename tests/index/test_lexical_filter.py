"""What a lexical search finds in its scopes does not depend on how it leaves the others out."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import olav_core
from olav_core import query_terms
from olav_core.index import lexical_search


def test_hits_are_the_same_filtered_in_the_index_and_by_the_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        for scope in ("netops", "dba", "global"):
            for n in range(8):
                memory.remember(f"router {n} of {scope} 边界路由器", category="fact", scope=scope)
        memory.recall("router", agent="netops", log=False)
        assert memory.index.flush()
        found = []
        for most in (lexical_search.MAX_HITS, 0):
            monkeypatch.setattr(lexical_search, "MAX_HITS", most)
            pool = memory.index.pool(("netops", "global"), now=time.time())
            found.append(pool.lexical(query_terms("router 3 边界")))
        assert np.allclose(*found, rtol=1e-6)
        assert np.flatnonzero(found[0]).tolist() == np.flatnonzero(pool.eligible).tolist()
        assert len(np.flatnonzero(found[0])) == 16
