"""Cases 42 and 43: vectors of two embedding spaces never meet."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from case_workspace import Make, configure, digests, fill, texts_of
from tiny_model import write_tiny_model

import olav_core
from olav_core import EmbeddingDimMismatchError, EmbeddingSpaceMismatchError, Memory

ROUTERS = [f"router r{number} stands in rack {number * 7 % 90}" for number in range(80)]
TOUCH: dict[str, Callable[[Memory], Any]] = {
    "recall": lambda memory: memory.recall("router r5"),
    "search": lambda memory: memory.search("router r5"),
    "why": lambda memory: memory.why(memory.list()[0].id, "router r5"),
    "enrich": lambda memory: memory.enrich([{"role": "user", "content": "router r5"}]),
    "remember": lambda memory: memory.remember("router r99 is new"),
    "remember_many": lambda memory: fill(memory, ["router r99 is new"]),
}


@pytest.mark.parametrize("touch", sorted(TOUCH))
@pytest.mark.parametrize("indexed", [False, True], ids=["no-index-yet", "indexed"])
def test_case_42_another_dimension_is_refused_and_every_file_stays(
    make: Make, touch: str, indexed: bool
) -> None:
    memory = make()
    fill(memory, ROUTERS)
    if indexed:
        memory.recall("router r5", log=False)
    memory.close()
    root = memory.workspace.root
    configure(root, "", options={"dimension": 128})
    before = digests(root)
    with olav_core.open(root) as other, pytest.raises(EmbeddingDimMismatchError) as caught:
        TOUCH[touch](other)
    assert digests(root) == before
    for part in ("256", "128", "'hashing'", other.store.uri, "config.yaml", "olav kb reembed --to hashing"):
        assert part in str(caught.value)
    assert "OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION=1" in str(caught.value)
    assert "destroys all rows" in str(caught.value)


def test_case_42_looking_listing_and_the_way_back_still_work(make: Make) -> None:
    memory = make()
    fill(memory, ROUTERS)
    memory.close()
    root = memory.workspace.root
    configure(root, "", options={"dimension": 128})
    with olav_core.open(root) as other:
        assert len(other.list()) == 80
        assert other.get(other.list()[0].id).text in ROUTERS
        assert other.status()["embedder"]["dimension"] == 256
        other.reembed("hashing", {"dimension": 128})
        assert texts_of(other.recall("router r5", limit=1)) == [ROUTERS[5]]


@pytest.mark.parametrize(("stored", "configured"), [("minilm", "e5"), ("e5", "minilm")])
def test_case_43_the_same_dimension_of_another_model_is_refused(
    make: Make, stored: str, configured: str
) -> None:
    memory = make(embedder=stored)
    memory.remember("router r5 stands in rack 35")
    dimension = memory.embedder.dimension
    memory.close()
    root = memory.workspace.root
    configure(root, "", embedder=configured)
    before = digests(root)
    for touch in ("recall", "remember"):
        with olav_core.open(root) as other:
            assert other.embedder.dimension == dimension == 384
            with pytest.raises(EmbeddingSpaceMismatchError) as caught:
                TOUCH[touch](other)
        assert not isinstance(caught.value, EmbeddingDimMismatchError)
        assert f"'{stored}'" in str(caught.value)
        assert f"'{configured}'" in str(caught.value)
    assert digests(root) == before


TWIN = """
from olav_core import EmbedderSpec, ModelIdentity, hookimpl
import numpy as np, zlib

class Twin:
    def __init__(self, options):
        self.salt = options.get("salt", "a")
        self.identity = ModelIdentity(name="twin", revision=options.get("revision", self.salt))
    def embed_passages(self, texts):
        seeds = [zlib.crc32((self.salt + text).encode()) for text in texts]
        made = [np.random.default_rng(seed).normal(size=32) for seed in seeds]
        return np.array(made, np.float32)
    embed_queries = embed_passages

@hookimpl
def olav_register_embedders():
    return [EmbedderSpec(id="twin", title="Twin", factory=Twin)]
"""


def test_case_43_a_model_that_changed_under_its_old_name_is_refused(make: Make) -> None:
    memory = make(embedder="twin", options={"salt": "a", "revision": "1"}, plugins={"olav_twin": TWIN})
    memory.remember("router r5")
    memory.close()
    configure(memory.workspace.root, "", embedder="twin", options={"salt": "b", "revision": "1"})
    with (
        olav_core.open(memory.workspace.root) as other,
        pytest.raises(EmbeddingSpaceMismatchError, match="cosine"),
    ):
        other.recall("router r5")


@pytest.mark.parametrize("same_dimension", [True, False])
def test_case_43_a_reembed_by_another_process_is_noticed_at_the_first_call(
    make: Make, same_dimension: bool
) -> None:
    """Not at the second: the first one would compare a query of one space with vectors of another."""
    memory = make(embedder="twin", options={"salt": "a"}, plugins={"olav_twin": TWIN})
    fill(memory, ROUTERS)
    memory.recall(ROUTERS[5])
    with olav_core.open(memory.workspace.root) as other:
        other.reembed(*(("twin", {"salt": "b"}) if same_dimension else ("hashing", {"dimension": 64})))
        assert texts_of(other.recall(ROUTERS[5], limit=1)) == [ROUTERS[5]]
    for touch in ("recall", "search", "remember"):
        with pytest.raises(EmbeddingSpaceMismatchError):
            TOUCH[touch](memory)
    assert len(memory.list()) == 80


def test_case_44_reembed_and_going_on_working(make: Make) -> None:
    memory = make(options={"dimension": 64})
    ids = fill(memory, ROUTERS)
    memory.recall("router r5")
    report = memory.reembed("hashing", {"dimension": 96})
    assert (report.rows, report.embedded) == (80, 80)
    assert texts_of(memory.recall("router r5", limit=1)) == [ROUTERS[5]]
    assert not memory.remember(ROUTERS[5]).created
    memory.remember("router r500 is in the cellar")
    assert texts_of(memory.recall("router r500 cellar", limit=1)) == ["router r500 is in the cellar"]
    assert {record.id for record in memory.list()} > set(ids)
    memory.close()
    with olav_core.open(memory.workspace.root) as again:
        assert again.embedder.dimension == 96
        assert texts_of(again.recall("router r5", limit=1)) == [ROUTERS[5]]


class SlowSchema:
    """A table whose schema takes its time: whoever reads rows in between must not trust the old one."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        if name == "schema":
            time.sleep(0.02)
        return getattr(self._table, name)


@pytest.mark.parametrize("slow", [False, True])
def test_case_44_recalls_and_writes_during_a_reembed_of_the_same_memory_never_fail_nor_mix(
    make: Make, slow: bool
) -> None:
    memory = make(embedder="twin", options={"salt": "a"}, plugins={"olav_twin": TWIN})
    if slow:
        memory.store.table = SlowSchema(memory.store.table)
    fill(memory, ROUTERS)
    memory.recall("warm up")
    failures: list[BaseException] = []
    written: list[str] = []
    stop = threading.Event()

    def reader() -> None:
        while not stop.is_set():
            try:
                recall = memory.recall(ROUTERS[7], limit=1)
                assert texts_of(recall) == [ROUTERS[7]], recall.degraded
            except BaseException as error:
                failures.append(error)

    def writer() -> None:
        while not stop.is_set():
            try:
                text = f"written during the move, number {len(written)}"
                memory.remember(text)
                written.append(text)
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=target) for target in (reader, reader, writer)]
    for thread in threads:
        thread.start()
    try:
        for salt in ("b", "c", "a"):
            memory.reembed("twin", {"salt": salt})
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures, failures[:3]
    assert {record.text for record in memory.list()} == {*ROUTERS, *written}
    vectors = memory.store.vectors([record.id for record in memory.list()])
    for record in memory.list():
        assert vectors[record.id] @ memory.embedder.query(record.text) > 0.999, record.text


def test_case_42_the_debug_variable_destroys_all_rows_and_says_so(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    memory = make()
    fill(memory, ROUTERS)
    memory.close()
    root = memory.workspace.root
    configure(root, "", options={"dimension": 128})
    monkeypatch.setenv("OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION", "yes")  # only 1 is yes
    with olav_core.open(root) as other, pytest.raises(EmbeddingDimMismatchError):
        other.recall("router r5")
    monkeypatch.setenv("OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION", "1")
    with olav_core.open(root) as other:
        assert len(other.list()) == 80, "opening destroys nothing"
        assert other.recall("router r5").items == ()
        assert other.list() == []
        other.remember("router r5 again")
        assert texts_of(other.recall("router r5", limit=1)) == ["router r5 again"]
    assert "destroyed 80 memories" in caplog.text
    monkeypatch.delenv("OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION")
    with olav_core.open(root) as other:
        assert texts_of(other.recall("router r5", limit=1)) == ["router r5 again"]


def test_case_42_the_command_line_says_it_as_one_object(make: Make) -> None:
    from click.testing import CliRunner

    from olav_core.cli.main import main

    memory = make()
    fill(memory, ROUTERS[:3])
    memory.close()
    root = memory.workspace.root
    configure(root, "", options={"dimension": 128})
    result = CliRunner().invoke(main, ["recall", "router", "--json", "--workspace", str(root)])
    assert result.exit_code != 0
    assert "EmbeddingDimMismatchError" in json.dumps(json.loads(result.stdout))


@pytest.mark.parametrize("wrong", [{"pooling": "cls"}, {"normalize": False}, {"query_prefix": "query: "}])
def test_case_16_a_model_pooled_or_prefixed_in_another_way_is_refused(
    make: Make, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    """Golden vectors tell whether a shipped embedder is right; this is for anybody's own model."""
    directory = write_tiny_model(tmp_path / "model")
    memory = make(embedder="onnx", options={"path": str(directory)})
    memory.remember("alpha beta")
    memory.close()
    root = memory.workspace.root
    configure(root, "", embedder="onnx", options={"path": str(directory), **wrong})
    with olav_core.open(root) as other, pytest.raises(EmbeddingSpaceMismatchError):
        other.recall("alpha")
