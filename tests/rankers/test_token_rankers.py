"""`maxsim` and what it stands on: token vectors that are kept, caught up with, and erased."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import olav_hashing
import olav_maxsim
import pytest

import olav_core
from olav_core import EmbedderSpec, Memory, ModelIdentity, hookimpl
from olav_core.recall.token_comparison import TokenComparison
from olav_core.testing import make_candidate, open_workspace, recall_state

WITH_TOKENS = {"tokens": 256}
#: Not the default chain and something more: whoever names `maxsim` here is told when it cannot work.
CHAIN = {"recall": {"rankers": ["vector", "bm25", "score_fusion", "maxsim"]}}
FACTS = (
    "The mail relay in Frankfurt is restarted with systemctl restart postfix",
    "上海的边界路由器 R1 的 loopback 是 10.255.0.1",
    "Fan alarms of the old switches may be silenced",
    "把 InfluxDB 注册到监控平台用 register_service",
)


@pytest.fixture
def memory(tmp_path: Path):
    with open_workspace(tmp_path / "space", options=WITH_TOKENS, config=CHAIN) as memory:
        for fact in FACTS:
            memory.remember(fact)
        yield memory


@pytest.mark.parametrize(
    ("asked", "best"),
    [("restart of the mail relay", 0), ("R1 的 loopback", 1), ("InfluxDB 注册 register_service", 3)],
)
def test_the_memory_whose_words_the_query_has_comes_first(memory: Memory, asked: str, best: int) -> None:
    memory.optimize()
    found = memory.search(asked)
    assert found.items[0].text == FACTS[best]
    assert found.degraded == ()


def test_each_token_of_the_query_counts_with_its_best(memory: Memory) -> None:
    state = recall_state(memory, "mail relay")
    compared = state.query.compare_tokens(state.candidates)
    ends = np.cumsum(compared.counts)
    assert compared.cosines.shape == (ends[-1], 2)
    parts = zip(ends, compared.counts, strict=True)
    best = np.array([compared.cosines[end - count : end].max(axis=0) for end, count in parts])
    assert compared.best() == pytest.approx(best)
    weights = best.std(axis=0) + 1e-3  # what fits every memory alike tells nothing
    expected = best @ weights / weights.sum()
    scores = olav_maxsim.MaxSim({"weight": 1.0}).rerank(state.query, state.candidates)
    before = [candidate.score for candidate in state.candidates]
    raised = np.array(before) + expected
    assert scores == pytest.approx(raised + max(before) - raised.max())


class Compared:
    """A query whose comparison is given: row i has the cosines of candidate i's tokens."""

    def __init__(self, *rows: list[list[float]] | None) -> None:
        self.rows = rows

    def compare_tokens(self, candidates):
        told = [row for rows in self.rows for row in rows or []]
        counts = [-1 if rows is None else len(rows) for rows in self.rows]
        return TokenComparison(np.array(told, np.float32).reshape(len(told), 2), np.array(counts))


def test_a_memory_without_token_vectors_yet_is_given_what_its_cosine_lets_expect() -> None:
    candidates = [make_candidate(name, score=0.0) for name in "abcd"]
    for candidate, cosine in zip(candidates, (0.6, 0.5, 0.1, 0.2), strict=True):
        candidate.leg_scores = {"vector": cosine}
    query = Compared([[0.9, 0.1], [0.2, 0.9]], None, [], [[0.3, 0.3]])  # both tokens tell as much
    scores = olav_maxsim.MaxSim({"weight": 1.0}).rerank(query, candidates)
    above = ((0.9 - 0.6) + (0.0 - 0.1) + (0.3 - 0.2)) / 3
    raised = [0.9, 0.5 + above, 0.0, 0.3]
    assert scores == pytest.approx([score - max(raised) for score in raised], abs=1e-6)


def test_the_best_of_each_category_keeps_its_score() -> None:
    candidates = [
        make_candidate("a guide", category="usage_guide", score=0.9),
        make_candidate("a captured question", category="query_pattern", score=0.8),
        make_candidate("another", category="query_pattern", score=0.7),
    ]
    query = Compared([[0.2, 0.2]], [[0.3, 0.3]], [[0.9, 0.9]])
    guide, first, second = olav_maxsim.MaxSim({}).rerank(query, candidates)
    assert guide == pytest.approx(0.9)
    assert second == pytest.approx(0.8)
    assert first < second


def test_those_behind_the_compared_are_scored_on_the_same_scale() -> None:
    candidates = [make_candidate(name, score=0.0) for name in "abc"]
    for candidate, cosine in zip(candidates, (0.6, 0.5, 0.4), strict=True):
        candidate.leg_scores = {"vector": cosine}
    scores = olav_maxsim.MaxSim({"weight": 1.0, "compared": 1}).rerank(Compared([[0.9, 0.7]]), candidates)
    assert scores == pytest.approx([0.0, -0.1, -0.2], abs=1e-6)


def test_candidates_without_tokens_are_no_fault() -> None:
    candidates = [make_candidate("a", score=0.5), make_candidate("b", score=0.4)]
    for rows in ((None, None), ([], []), ([], None)):
        assert olav_maxsim.MaxSim({}).rerank(Compared(*rows), candidates) == [0.5, 0.4]


def test_a_query_runs_the_model_once(tmp_path: Path) -> None:
    runs: list[str] = []

    class Counting:
        identity = ModelIdentity(name="counting", revision="1")

        def __init__(self) -> None:
            self.inner = olav_hashing.HashingEmbedder(tokens=256)
            self.embed_passages = self.inner.embed_passages
            self.embed_passages_with_tokens = self.inner.embed_passages_with_tokens

        def embed_queries(self, texts):
            runs.append("vector")
            return self.inner.embed_queries(texts)

        def token_vectors(self, texts, *, query=False):
            runs.append("tokens")
            return self.inner.token_vectors(texts, query=query)

        def embed_queries_with_tokens(self, texts):
            runs.append("both")
            return self.inner.embed_queries_with_tokens(texts)

    class Plugin:
        @hookimpl
        def olav_register_embedders(self):
            return [EmbedderSpec(id="counting", title="Counting", factory=lambda _: Counting())]

    with open_workspace(tmp_path / "space", Plugin(), embedder="counting", config=CHAIN) as memory:
        for fact in FACTS:
            memory.remember(fact)
        memory.search("warm up")
        runs.clear()
        for _ in range(3):
            assert memory.search("restart of the mail relay").items[0].text == FACTS[0]
        assert runs == ["both"]


def test_an_embedder_without_token_vectors_is_no_fault_of_the_default_chain(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "space") as memory:
        for fact in FACTS:
            memory.remember(fact)
        memory.optimize()
        recall = memory.recall("restart of the mail relay", tier="large")
        assert recall.degraded == ()
        assert recall.items[0].text == FACTS[0]
        assert not memory.workspace.token_path.exists()


def test_what_was_written_before_the_first_recall_is_there(memory: Memory) -> None:
    memory.search("mail relay")  # makes the index
    with closing(sqlite3.connect(memory.workspace.token_path)) as file:
        assert file.execute("SELECT COUNT(*) FROM tokens").fetchone()[0] == len(FACTS)


def test_of_long_passages_only_the_first_are_compared(memory: Memory) -> None:
    for number in range(10):
        memory.remember(" ".join(["relay", *(f"word{number}x{place}" for place in range(400))]))
    state = recall_state(memory, "relay")
    counts = state.query.compare_tokens(state.candidates * 4).counts
    compared = int((counts >= 0).sum())
    assert compared in (16, 32)
    assert counts[compared:].tolist() == [-1] * (40 - compared)
    assert counts[: compared - 16].sum() < 5_000 <= counts[:compared].sum()


def test_a_long_query_is_compared_by_some_of_its_tokens(memory: Memory) -> None:
    words = " ".join(f"word{number}" for number in range(400))
    state = recall_state(memory, f"{words} relay")
    assert state.query.compare_tokens(state.candidates).cosines.shape[1] == 64


def test_a_store_written_without_it_is_caught_up_with(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "space") as plain:
        for fact in FACTS:
            plain.remember(fact)
        assert not plain.workspace.token_path.exists()
    with open_workspace(tmp_path / "other", options=WITH_TOKENS, config=CHAIN) as memory:
        memory.remember(FACTS[0])
        first = memory.search("mail relay")  # asks for what is missing
        memory.optimize()
        again = memory.search("mail relay")
        assert first.items[0].text == again.items[0].text == FACTS[0]
        assert again.items[0].score > first.items[0].score or first.degraded == ()
        assert memory.workspace.token_path.exists()


def test_the_folder_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "space", options=WITH_TOKENS, config=CHAIN) as memory:
        memory.remember(FACTS[0])
        memory.optimize()
        place = memory.workspace.token_path
    place.write_bytes(b"not a database, whatever it was before" * 100)
    with olav_core.open(tmp_path / "space") as memory:
        memory.optimize()
        found = memory.search("mail relay")
    assert found.degraded == ()
    assert found.items[0].text == FACTS[0]


def test_an_embedder_without_token_vectors_keeps_the_order(tmp_path: Path) -> None:
    class Plain:
        identity = ModelIdentity(name="plain", revision="1")

        def embed_queries(self, texts):
            return self.embed_passages(texts)

        def embed_passages(self, texts):
            return np.array([[1.0 + len(t) % 3, 1.0 + t.count("e"), 1.0] for t in texts], np.float32)

    class Plugin:
        @hookimpl
        def olav_register_embedders(self):
            return [EmbedderSpec(id="plain", title="Plain", factory=lambda options: Plain())]

    with open_workspace(tmp_path / "space", Plugin(), embedder="plain", config=CHAIN) as memory:
        memory.remember(FACTS[0])
        memory.remember(FACTS[2])
        recall = memory.recall("restart the mail relay", tier="large")
        assert recall.items
        assert recall.degraded == ()


def test_token_vectors_that_come_after_a_rescan_are_kept(memory: Memory) -> None:
    memory.optimize()
    memory.rescan()
    memory.remember("The relay's fan was exchanged on Monday")
    memory.optimize()
    with closing(sqlite3.connect(memory.workspace.token_path)) as file:
        assert file.execute("SELECT COUNT(*) FROM tokens").fetchone()[0] == len(FACTS) + 1
