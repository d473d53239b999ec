"""Several processes at once: the same keys, and readers across a re-embed (CASES 35, 44)."""

from __future__ import annotations

from pathlib import Path

import killing
import pytest

import olav_core


@pytest.mark.parametrize("processes", [2, 8])
def test_the_same_memories_from_many_processes_are_each_one_row(processes: int, tmp_path: Path) -> None:
    tally = killing.race_trials(tmp_path, 1, processes)
    assert (tally.lost, tally.doubled, tally.faults) == (0, 0, [])
    assert tally.acknowledged == 30


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
