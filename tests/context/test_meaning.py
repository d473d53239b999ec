"""Which file a query means, under e5: the rates behind the threshold (docs/decisions.md)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from references_set import ACROSS, FILES, MEANT, NONE

import olav_core
from olav_core import Memory


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
