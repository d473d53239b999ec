"""A store above `recall.resident_rows` recalls what a flat one does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import olav_core
from olav_core import Draft, Memory, Recall, UnknownIdError
from olav_core.index import quantised_matrix, quantised_rows

pytest.importorskip("numkong")

QUESTIONS = (
    "bgp neighbor down on r3",
    "如何重启 交换机",
    "核",
    "when the snapshot fails 快照 失败",
    "10.0.0.17",
    "nothing that anybody wrote",
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantised_matrix, "BLOCK_ROWS", 64)
    monkeypatch.setattr(quantised_rows, "GROUP_ROWS", 16)


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Memory, Memory]]:
    """One workspace, opened as a large and as a flat store."""
    olav_core.init(tmp_path, embedder="hashing").close()
    monkeypatch.setenv("OLAV_RECALL_RESIDENT_ROWS", "50")
    with olav_core.open(tmp_path) as large:
        monkeypatch.setenv("OLAV_RECALL_RESIDENT_ROWS", "100000")
        with olav_core.open(tmp_path) as flat:
            yield large, flat


def drafts(first: int, last: int, **rest: object) -> Iterator[Draft]:
    kinds = ("fact", "query_pattern", "decision", "usage_guide")
    for i in range(first, last):
        kind = kinds[i % 4]
        text = (
            f"重启 交换机 核心 步骤 {i}" if i % 3 else f"bgp neighbor down on r{i % 9}, 10.0.0.{i} snapshot"
        )
        metadata = {
            "query_pattern": {"question": text, "sql": f"SELECT {i}"},
            "usage_guide": {"intent": f"intent_{i}", "agent": "netops", "keywords": ["快照", f"r{i % 9}"]},
        }.get(kind, {})
        scope = ("global", "netops", "services")[i % 3]
        yield Draft(text=text, category=kind, scope=scope, metadata=metadata, **rest)  # type: ignore[arg-type]


def check(mine: Recall, theirs: Recall) -> None:
    """Slots and candidates agree; rows that score alike may stand for each other at the end of a category."""
    assert not mine.degraded
    assert not theirs.degraded
    scores = [[item.score for item in recall.items] for recall in (mine, theirs)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)
    ours, others = ({t.id: t for t in recall.trace} for recall in (mine, theirs))
    assert len(ours) == len(others)
    for trace in theirs.trace:
        if trace.id in ours:
            assert ours[trace.id].score == pytest.approx(trace.score, abs=1e-5)
            assert ours[trace.id].leg_scores == pytest.approx(trace.leg_scores, abs=1e-5)
            continue
        least = min(t.score for t in mine.trace if t.category == trace.category)
        assert trace.score == pytest.approx(least, abs=1e-5)


def same(large: Memory, flat: Memory) -> None:
    for agent, tier in (("netops", "large"), ("services", "small"), ("nobody", "medium")):
        for question in QUESTIONS:
            mine, theirs = (m.recall(question, agent=agent, tier=tier, log=False) for m in (large, flat))
            check(mine, theirs)
    assert large.index.pool(None, now=0).approximate
    assert not flat.index.pool(None, now=0).approximate


def test_blocks_traces_and_scores_are_the_same(pair: tuple[Memory, Memory]) -> None:
    large, flat = pair
    large.remember_many(drafts(0, 400))
    same(large, flat)
    assert "shortlist" in large.recall(QUESTIONS[0]).timings_ms


def test_they_stay_the_same_through_changes(pair: tuple[Memory, Memory]) -> None:
    large, flat = pair
    soon = datetime.now(UTC) + timedelta(hours=1)
    large.remember_many(drafts(0, 200))
    same(large, flat)
    flat.remember_many(drafts(200, 330, expires_at=soon))
    same(large, flat)
    for row in flat.list(limit=60):
        large.forget(row.id)
    same(large, flat)
    large.optimize()
    same(large, flat)
    large.reembed("hashing", {"dimension": 64})
    assert large.recall(QUESTIONS[0]).items


def test_a_search_for_many_finds_as_many(pair: tuple[Memory, Memory]) -> None:
    large, flat = pair
    large.remember_many(drafts(0, 400))
    for limit in (1, 10, 90):
        mine, theirs = (m.search("bgp neighbor down", agent="netops", limit=limit) for m in (large, flat))
        assert [i.score for i in mine.items] == pytest.approx([i.score for i in theirs.items], abs=1e-5)


def test_an_embedder_that_cannot_be_reached_leaves_the_words(
    pair: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    large, _ = pair
    large.remember_many(drafts(0, 200))
    large.recall("bgp")

    def unreachable(text: str) -> None:
        raise olav_core.EmbedderUnavailableError(f"cannot embed {text}")

    monkeypatch.setattr(large.embedder, "query", unreachable)
    recall = large.recall("bgp neighbor down on r3 today", agent="netops")
    assert recall.degraded
    assert "bgp" in recall.items[0].text


def test_every_method_that_waits_has_an_async_twin(pair: tuple[Memory, Memory]) -> None:
    memory, _ = pair

    async def use() -> None:
        kept = await memory.aremember("R1 的 loopback 是 10.255.0.1")
        assert (await memory.aget(kept.id)).text.startswith("R1")
        assert [row.id for row in await memory.alist(category="fact")] == [kept.id]
        assert (await memory.asearch("loopback", limit=3)).items[0].id == kept.id
        assert await memory.aforget(kept.id) == kept.id
        with pytest.raises(UnknownIdError):
            await memory.aget(kept.id)

    asyncio.run(use())


def test_a_reembed_folds_what_the_old_index_still_held(pair: tuple[Memory, Memory], tmp_path: Path) -> None:
    memory, _ = pair
    memory.remember_many(drafts(0, 5))
    memory.recall("bgp")
    assert memory.index.coverage().lexical_behind == 5
    memory.reembed("hashing", {"dimension": 64})
    with olav_core.open(tmp_path) as other:
        assert other.index_coverage().lexical_rows == 5


def test_a_memory_in_the_other_language_is_on_the_shortlist(pair: tuple[Memory, Memory]) -> None:
    large, flat = pair
    large.remember_many(drafts(0, 400))
    large.remember("The gateway of the lab was replaced in May.", category="fact", scope="global")
    for memory in pair:
        assert memory.search("网关什么时候换的", limit=1).items[0].text.startswith("The gateway")
    assert large.index.pool(None, now=0).approximate
    assert not flat.index.pool(None, now=0).approximate
