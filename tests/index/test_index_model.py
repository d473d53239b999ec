"""After any writes the index equals one that is built from nothing."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from index_rows import CATEGORIES, DIMENSION, NOW, record, write

from olav_core.index.index import RecallIndex
from olav_core.index.means import DRIFT
from olav_core.store.store import Store

TEXTS = [
    "bgp lost",
    "bgp flap on r1",
    "ospf 邻居 down",
    "审批流程 first",
    "take_snapshot now",
    "10.0.0.1 is r1",
]
TERMS = ["bgp", "r1", "ospf", "邻居", "审批", "流程", "take_snapshot", "snapshot", "10.0.0.1"]
keys = st.integers(0, 7)
put = st.tuples(st.just("put"), keys, st.sampled_from(TEXTS), st.sampled_from(["global", "netops"]))
steps = st.lists(
    st.one_of(
        st.lists(put, min_size=1, max_size=5),
        st.tuples(st.just("delete"), keys),
        st.sampled_from(["sync", "flush", "reopen"]),
    ),
    min_size=1,
    max_size=10,
)


def state(index: RecallIndex, scopes: list[str] | None) -> dict[str, tuple[np.ndarray, np.ndarray, str]]:
    """id -> (centred vector, which terms match, text and scope) of the eligible rows."""
    index.sync()
    pool = index.pool(scopes, now=NOW)
    matches = np.stack([pool.lexical([term]) > 0 for term in TERMS])
    rows = np.flatnonzero(pool.eligible).tolist()
    records = pool.records(rows)
    assert [r.id for r in records] == [pool.id_of(row) for row in rows]
    return {
        r.id: (
            pool.vector(row),
            matches[:, row],
            f"{r.text}|{r.scope}|{pool.languages[pool.language_codes[row]]}",
        )
        for row, r in zip(rows, records, strict=True)
    }


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=steps)
def test_it_equals_a_fresh_one(steps: list[object]) -> None:
    with tempfile.TemporaryDirectory() as base:
        store = Store.create(str(Path(base) / "memory.lance"), json.dumps({"dimension": DIMENSION}))
        directory = Path(base) / "bm25"
        index = RecallIndex(store, directory, categories=CATEGORIES)
        for step in steps:
            if step == "sync":
                index.sync()
            elif step == "flush":
                index.flush()
            elif step == "reopen":
                index.close()
                index = RecallIndex(store, directory, categories=CATEGORIES)
            elif isinstance(step, tuple):
                store.delete([record(str(step[1]), "").id])
            elif isinstance(step, list):
                last = {key: record(str(key), text, scope=scope) for _, key, text, scope in step}
                write(store, *last.values())
        for scopes in (None, ["netops"]):
            mine = state(index, scopes)
            fresh = state(RecallIndex(store, None, categories=CATEGORIES), scopes)
            assert mine.keys() == fresh.keys()
            for id_, (vector, matched, about) in mine.items():
                assert about == fresh[id_][2]
                assert (matched == fresh[id_][1]).all()
                assert np.linalg.norm(vector - fresh[id_][0]) < 8 * DRIFT
        store.close()
