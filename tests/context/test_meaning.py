"""Which file a query means, under e5: the rates behind the threshold (docs/decisions.md)."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from references_set import ACROSS, FILES, MEANT, NONE

import olav_core
from olav_core import Memory
from olav_core.context import intent


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("ws")
    with olav_core.init(root, embedder="e5") as memory:
        folder = root / "routing" / "references"
        folder.mkdir(parents=True)
        (root / "routing" / "SKILL.md").write_text(
            "---\nstatic_context_mode: on_intent\n---\n", encoding="utf-8"
        )
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        yield memory


def loaded(memory: Memory, query: str) -> list[str]:
    found = memory.context(query, agent="routing", log=False)
    return [part.name.removeprefix("references/") for part in found.parts if part.included]


def test_a_query_in_the_files_language_loads_it(team: Memory) -> None:
    assert sum(loaded(team, query) == [file] for query, file in MEANT) >= len(MEANT) - 1


def test_a_query_in_the_other_language_mostly_does(team: Memory) -> None:
    assert sum(loaded(team, query) == [file] for query, file in ACROSS) >= len(ACROSS) / 2


def test_a_query_that_means_none_mostly_loads_none(team: Memory) -> None:
    assert sum(loaded(team, query) == [] for query in NONE) >= len(NONE) - 3


class Vectors:
    """An embedder of which another thread asks for other texts while it is at work."""

    def __init__(self, value: float) -> None:
        self.value, self.meanwhile = value, lambda: None

    def passages(self, texts: list[str]) -> list[float]:
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        return [self.value for _ in texts]


def test_what_another_thread_evicts_meanwhile_is_still_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intent, "MAX_KEPT", 2)
    host = SimpleNamespace(embedder=Vectors(1.0))
    files = intent.FileIntent(host)
    files._passages(["a", "b"])
    host.embedder.meanwhile = lambda: files._passages(["c", "d"])
    assert files._passages(["a", "b", "e"]) == [1.0, 1.0, 1.0]


def test_vectors_of_an_embedder_that_is_gone_are_no_other_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intent, "id", lambda of: 7, raising=False)  # an address that is used again
    host = SimpleNamespace(embedder=Vectors(1.0))
    files = intent.FileIntent(host)
    assert files._passages(["a"]) == [1.0]
    host.embedder = Vectors(2.0)
    assert files._passages(["a"]) == [2.0]
