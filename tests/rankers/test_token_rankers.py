"""`maxsim` and what it stands on: token vectors that are kept, caught up with, and erased."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import olav_maxsim
import pytest

import olav_core
from olav_core import Memory
from olav_core.config import DEFAULT_RANKERS
from olav_core.testing import make_candidate, open_workspace, recall_state

CHAIN = {"recall": {"rankers": [*DEFAULT_RANKERS, "maxsim"]}}
FACTS = (
    "The mail relay in Frankfurt is restarted with systemctl restart postfix",
    "上海的边界路由器 R1 的 loopback 是 10.255.0.1",
    "Fan alarms of the old switches may be silenced",
    "把 InfluxDB 注册到监控平台用 register_service",
)


@pytest.fixture
def memory(tmp_path: Path):
    with open_workspace(tmp_path / "space", config=CHAIN) as memory:
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
    asked, told = state.query.tokens(state.candidates)
    scores = olav_maxsim.MaxSim({"weight": 1.0}).rerank(state.query, state.candidates)
    for candidate, tokens, score in zip(state.candidates, told, scores, strict=True):
        assert tokens is not None
        expected = float((asked @ tokens.T).max(axis=1).mean())
        assert score == pytest.approx(candidate.score + expected, abs=1e-5)
        assert np.linalg.norm(tokens, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_a_memory_without_token_vectors_yet_is_given_what_its_cosine_lets_expect(memory: Memory) -> None:
    state = recall_state(memory, "mail relay")
    asked, told = state.query.tokens(state.candidates)

    class Partly:
        text = state.query.text

        def tokens(self, candidates):
            return asked, [None if place == 1 else each for place, each in enumerate(told)]

    full = olav_maxsim.MaxSim({}).rerank(state.query, state.candidates)
    partly = olav_maxsim.MaxSim({}).rerank(Partly(), state.candidates)
    assert partly[0] == full[0]
    assert np.isfinite(partly[1])
    nothing = type("Nothing", (), {"tokens": lambda self, given: (asked, [None] * len(given))})()
    assert olav_maxsim.MaxSim({}).rerank(nothing, state.candidates) == [c.score for c in state.candidates]
    assert olav_maxsim.MaxSim({}).rerank(nothing, []) == []


def test_a_store_written_without_it_is_caught_up_with(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "space") as plain:
        for fact in FACTS:
            plain.remember(fact)
        assert not (plain.workspace.index_directory / "tokens.sqlite").exists()
    with open_workspace(tmp_path / "other", config=CHAIN) as memory:
        memory.remember(FACTS[0])
        first = memory.search("mail relay")  # asks for what is missing
        memory.optimize()
        again = memory.search("mail relay")
        assert first.items[0].text == again.items[0].text == FACTS[0]
        assert again.items[0].score > first.items[0].score or first.degraded == ()
        assert (memory.workspace.index_directory / "tokens.sqlite").exists()


def test_the_folder_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "space", config=CHAIN) as memory:
        memory.remember(FACTS[0])
        memory.optimize()
        place = memory.workspace.index_directory / "tokens.sqlite"
    place.write_bytes(b"not a database, whatever it was before" * 100)
    with olav_core.open(tmp_path / "space") as memory:
        memory.optimize()
        found = memory.search("mail relay")
    assert found.degraded == ()
    assert found.items[0].text == FACTS[0]


def test_an_embedder_without_token_vectors_degrades_and_keeps_the_order(tmp_path: Path) -> None:
    from olav_core import EmbedderSpec, ModelIdentity, hookimpl

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
        assert any("no token vectors" in line for line in recall.degraded)


def test_candidates_without_tokens_are_no_fault() -> None:
    class Query:
        def tokens(self, candidates):
            return np.zeros((0, 4), np.float32), [None for _ in candidates]

    candidates = [make_candidate("a", score=0.5), make_candidate("b", score=0.4)]
    assert olav_maxsim.MaxSim({}).rerank(Query(), candidates) == [0.5, 0.4]


def test_token_vectors_that_come_after_a_rescan_are_kept(memory: Memory) -> None:
    memory.optimize()
    memory.rescan()
    memory.remember("The relay's fan was exchanged on Monday")
    memory.optimize()
    with closing(sqlite3.connect(memory.workspace.index_directory / "tokens.sqlite")) as file:
        assert file.execute("SELECT COUNT(*) FROM tokens").fetchone()[0] == len(FACTS) + 1
