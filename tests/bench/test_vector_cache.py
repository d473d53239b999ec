"""Kept vectors: what was embedded once is not embedded again, an interrupted run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from olav_bench.configuration import Configuration
from olav_bench.running import run

from olav_core import Draft, EmbedderSpec, ModelIdentity, Suite, SuiteQuery, build_registry, hookimpl


class House:
    """An embedder that notes what it is asked, fails on request, and can change behind its name."""

    identity = ModelIdentity(name="house", revision="1")

    def __init__(self, asked: list[str], state: dict[str, Any]) -> None:
        self.asked, self.state = asked, state

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return self._vectors(texts)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        if self.state.get("fails_at") and any(self.state["fails_at"] in text for text in texts):
            raise KeyboardInterrupt
        self.asked += texts
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Any:
        seeds = [sum(map(ord, text)) + self.state.get("turn", 0) for text in texts]
        return np.stack([np.random.default_rng(seed).normal(size=16) for seed in seeds]).astype(np.float32)


def suite(count: int) -> Suite:
    memories = {f"m{n}": Draft(text=f"memory number {n}", category="fact") for n in range(count)}
    query = SuiteQuery(qid="q", query="memory number 3", relevant=frozenset({"m3"}))
    return Suite(id="cached", memories=memories, queries=(query,), unit="memory", pool="all")


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def state() -> dict[str, Any]:
    return {}


@pytest.fixture
def measure(asked: list[str], state: dict[str, Any], tmp_path: Path) -> Any:
    class Plugin:
        @hookimpl
        def olav_register_embedders(self) -> list[EmbedderSpec]:
            return [EmbedderSpec(id="house", title="House", factory=lambda options: House(asked, state))]

    base = build_registry()
    from attrs import evolve

    spec = build_registry([Plugin()]).embedder("house")
    registry = evolve(base, embedders={**base.embedders, "house": spec})

    def measured(count: int) -> Any:
        asked.clear()
        return run(suite(count), Configuration(embedder="house"), cache=tmp_path / "c", registry=registry)

    return measured


def memories(asked: list[str]) -> list[str]:
    return [text for text in asked if text.startswith("memory")]


def test_a_second_run_embeds_only_what_is_new(measure: Any, asked: list[str]) -> None:
    first = measure(10)
    assert len(memories(asked)) == 10
    second = measure(12)
    assert memories(asked) == ["memory number 10", "memory number 11"]
    assert first[0].ranked[0] == second[0].ranked[0]


def test_an_interrupted_run_goes_on(measure: Any, asked: list[str], state: dict[str, Any]) -> None:
    state["fails_at"] = "memory number 590"
    with pytest.raises(KeyboardInterrupt):
        measure(600)
    done = len(memories(asked))
    assert 0 < done < 600
    state.clear()
    measure(600)
    assert len(memories(asked)) == 600 - done


def test_a_model_that_changed_behind_its_name_is_embedded_anew(
    measure: Any, asked: list[str], state: dict[str, Any]
) -> None:
    measure(10)
    state["turn"] = 1000
    measure(10)
    assert len(memories(asked)) == 10
