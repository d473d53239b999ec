"""Several processes at once: the same keys, and readers across a re-embed (CASES 35, 44)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import killing
import pytest
from lancedb.index import BTree

import olav_core


@pytest.mark.parametrize("processes", [2, 8])
def test_the_same_memories_from_many_processes_are_each_one_row(processes: int, tmp_path: Path) -> None:
    """An index on `id`, which makes the engine's own merges double rows without a word, is there."""
    folder = tmp_path / "w"
    killing.new_workspace(folder)
    with olav_core.open(folder) as memory:
        memory.store.table.create_index("id", config=BTree())
    with killing.many("same keys", folder, processes) as (victims, pipes):
        for pipe in pipes:
            assert pipe.recv() == ("go",)
        said = [words for pipe in pipes for words in killing.heard(pipe)]
        for victim in victims:
            victim.join()
    assert [victim.exitcode for victim in victims] == [0] * processes
    with olav_core.open(folder) as memory:
        texts = [record.text for record in memory.list()]
        assert {"id_idx"} <= {index.name for index in memory.store.table.list_indices()}
    assert Counter(texts).most_common(1)[0][1] == 1
    assert {words[1] for words in said if words[0] == "done"} <= set(texts)
    # each was created by exactly one of them
    assert Counter(words[1] for words in said if words[0] == "created") == Counter(
        text for text in texts if text.startswith("interface xe-0/")
    ) - Counter(["interface xe-0/0 was there before"])


def test_a_reader_in_another_process_sees_a_whole_store_across_a_reembed(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    killing.new_workspace(folder)
    with olav_core.open(folder) as memory:
        drafts = [olav_core.Draft(text=f"interface {n} flapped", category="fact") for n in range(200)]
        memory.remember_many(drafts)
        with killing.running("read", folder, 1) as (_, pipe):
            seen = [pipe.recv()]
            for dimension in (96, 64, 96):
                memory.reembed("hashing", {"dimension": dimension})
                seen += [pipe.recv() for _ in range(10)]
    counts = {words[1] for words in seen if words[0] == "rows"}
    assert counts == {201}
    # a reader whose embedder is no longer the store's is told so, never given wrong vectors
    assert {words[2] for words in seen if words[0] == "rows"} <= {"found", "EmbeddingDimMismatchError"}
