"""The fixtures as a plug-in author's test suite gets them: by installing olav-core, nothing imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from olav_core import Draft, Memory, build_registry
from olav_core.testing import TOPICS, FakeClock, FakeDistributions, make_candidate, make_query, recall_state

AUTHORS_TEST = """
from datetime import timedelta


def test_expiry(olav_memory, olav_clock):
    olav_memory.remember("R1 is the border router", expires_at=olav_clock.now() + timedelta(days=1))
    assert olav_memory.recall("border router").items
    olav_clock.advance(timedelta(days=2))
    assert not olav_memory.recall("border router").items


def test_corpus(olav_open, olav_corpus):
    memory = olav_open(config={"recall": {"tier": "large"}})
    memory.remember_many(olav_corpus)
    recall = memory.recall("the printer shows error E-42")
    assert recall.tier == "large"
    assert "E-42" in recall.items[0].text


def test_site(olav_site):
    olav_site.add("acme-x", {"x": "acme_x"}, {"acme_x.py": "VALUE = 1"})
    import acme_x

    assert acme_x.VALUE == 1
"""


def test_an_author_s_tests_find_the_fixtures_by_themselves(tmp_path: Path) -> None:
    (tmp_path / "test_authors.py").write_text(AUTHORS_TEST)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        ".",
    ]
    environment = {**os.environ, "OLAV_RECALL_TIER": "small", "OLAV_DISABLE": "fact"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_the_pytest_plug_in_costs_nothing_and_the_core_never_imports_pytest() -> None:
    script = "import sys, {}; print(*sorted({{n.partition('.')[0] for n in sys.modules}}))"

    def loaded(module: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", script.format(module)], capture_output=True, text=True, check=True
        )
        return set(done.stdout.split())

    heavy = {"numpy", "lancedb", "pyarrow", "onnxruntime", "tantivy", "cattrs", "pluggy"}
    assert not loaded("olav_core.testing.fixtures") & (heavy - {"pluggy"})
    assert "pytest" not in loaded("olav_core.testing.contracts, olav_core.cli.main")


def test_the_clock_reaches_timestamps_expiry_queries_and_reimports(
    olav_memory: Memory, olav_clock: FakeClock
) -> None:
    olav_clock.set(datetime(2031, 5, 1))
    id = olav_memory.remember("R1 is the border router").id
    record = olav_memory.get(id)
    assert record.timestamp == record.created_at == datetime(2031, 5, 1, tzinfo=UTC)
    assert make_query("x").now == olav_clock.now().timestamp()
    lesson = olav_memory.remember("Check the fan before the restart of SW-7", category="reflection").id
    assert olav_memory.get(lesson).expires_at == olav_clock.now() + timedelta(days=30)
    olav_clock.advance(timedelta(days=31))
    assert olav_memory.optimize().expired == 1
    assert [row.id for row in olav_memory.list()] == [id]


def test_the_clock_is_put_back() -> None:
    with FakeClock(datetime(1999, 1, 1, tzinfo=UTC)):
        assert make_query("x").now < 1e9
    assert make_query("x").now > 1.7e9


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.english[:20])
def test_each_topic_of_the_corpus_is_found_in_both_languages(
    topic: Any, olav_memory: Memory, olav_corpus: tuple[Draft, ...]
) -> None:
    olav_memory.remember_many(olav_corpus)
    for question, answer in ((topic.question, topic.english), (topic.chinese_question, topic.chinese)):
        state = recall_state(olav_memory, question)
        assert state.candidates[0].record.text == answer
        assert state.candidates[0].distance is not None


def test_a_workspace_takes_plug_ins_and_settings(olav_open: Callable[..., Memory], tmp_path: Path) -> None:
    file = tmp_path / "olav_note.py"
    file.write_text(
        "from olav_core import CategorySpec, hookimpl\n"
        "@hookimpl\n"
        "def olav_register_categories():\n"
        "    return [CategorySpec(id='note', title='Note', purpose='Notes')]\n"
    )
    memory = olav_open(file, config={"categories": {"note": {"cap": 1}}})
    assert memory.categories["note"].cap == 1
    assert "fact" in memory.categories
    assert olav_open().workspace.root != memory.workspace.root


def test_fake_distributions_come_and_go(tmp_path: Path) -> None:
    source = """
        from olav_core import CategorySpec, hookimpl

        @hookimpl
        def olav_register_categories():
            return [CategorySpec(id="note", title="Note", purpose="Notes")]
        """
    with FakeDistributions(tmp_path / "site") as site:
        site.add("acme-note", {"note": "acme_note"}, {"acme_note.py": source}, version="2.5")
        registry = build_registry(disabled=())
        assert registry.owner("categories", "note").version == "2.5"
        site.remove("acme-note", version="2.5")
        assert "note" not in build_registry(disabled=()).categories
    assert "acme_note" not in sys.modules
    assert str(tmp_path / "site") not in sys.path


def test_a_candidate_is_made_without_a_store() -> None:
    candidate = make_candidate("R1", metadata={"state": "open"}, distance=None, scope="netops")
    assert (candidate.record.metadata["state"], candidate.scope, candidate.distance) == (
        "open",
        "netops",
        None,
    )
