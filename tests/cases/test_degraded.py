"""What fails on the way of a recall or a write degrades it, is named, and leaves nothing half done."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_workspace import Make, digests, fill, texts_of

import olav_core
from olav_core import Draft, EmbedderUnavailableError, Memory

MOODY = """
from pathlib import Path
import numpy as np
from olav_core import EmbedderSpec, EmbedderUnavailableError, ModelIdentity, hookimpl

class Moody:
    identity = ModelIdentity(name="moody", revision="1")
    def __init__(self, options):
        self.down = Path(options["down"])
    def embed_passages(self, texts):
        if self.down.exists():
            raise EmbedderUnavailableError("nobody answers at 127.0.0.1. Start the server.")
        return np.array([[len(text), 1.0, text.count("r")] for text in texts], np.float32)
    embed_queries = embed_passages

@hookimpl
def olav_register_embedders():
    return [EmbedderSpec(id="moody", title="Moody", factory=Moody)]
"""


@pytest.fixture
def down(tmp_path: Path) -> Path:
    """While this file exists the embedder cannot be reached."""
    return tmp_path / "down"


@pytest.fixture
def moody(make: Make, down: Path) -> Memory:
    memory = make(embedder="moody", plugins={"olav_moody": MOODY}, options={"down": str(down)})
    fill(memory, [f"router r{number} is in rack {number}" for number in range(20)])
    fill(memory, ["do not restart router r5"], category="reflection")
    return memory


@pytest.mark.parametrize("reopened", [False, True], ids=["warm", "cold"])
def test_an_unreachable_embedder_leaves_the_words_and_is_named(
    moody: Memory, down: Path, reopened: bool
) -> None:
    down.touch()
    memory = olav_core.open(moody.workspace.root) if reopened else moody
    recall = memory.recall("router r5 rack", tier="large")
    assert recall.items[0].text == "router r5 is in rack 5"
    assert {item.category for item in recall.items} == {"fact"}, (
        "a distance gate without a distance is closed"
    )
    assert recall.items[0].distance is None
    assert len(recall.degraded) == 1
    assert "vector" in recall.degraded[0]
    assert "nobody answers" in recall.degraded[0]
    for nothing in (memory.recall("zebra giraffe", tier="large"), memory.search("zebra giraffe")):
        assert nothing.items == ()
        assert nothing.degraded, "broken never looks like no memories"
    assert "r5 is in rack 5" in memory.enrich([{"role": "user", "content": "router r5"}])[0]["content"]
    down.unlink()
    assert memory.recall("router r6").degraded == ()
    if reopened:
        memory.close()


def test_an_unreachable_embedder_makes_writes_fail_whole(moody: Memory, down: Path) -> None:
    before = {record.id for record in moody.list()}
    moody.close()
    root = moody.workspace.root
    down.touch()
    files = digests(root)
    with olav_core.open(root) as memory:
        with pytest.raises(EmbedderUnavailableError, match="nobody answers"):
            memory.remember("a new router r99")
        with pytest.raises(EmbedderUnavailableError):
            memory.remember_many([Draft(text="a new router r98", category="fact")])
        with pytest.raises(EmbedderUnavailableError):
            memory.reembed("moody", {"down": str(down), "x": 1})
        assert {record.id for record in memory.list()} == before
    assert {name for name, digest in digests(root).items() if files.get(name) != digest} <= LOCKS
    down.unlink()
    with olav_core.open(root) as memory:
        assert memory.remember("a new router r99").created


LOCKS = {
    f".olav/databases/memory.lance.{name}"
    for name in ("lock", "lock.queue", "reembed", "reembed.queue", "streams")
}

STAGES = """
import numpy as np
from olav_core import CategorySpec, GateSpec, GateUse, RankerSpec, Verdict, hookimpl

class Raises:
    def __init__(self, options): self.mode = options.get("mode", "raise")
    def _fail(self, size):
        if self.mode == "raise": raise RuntimeError("out of order")
        answers = {"nan": np.full(size, np.nan, np.float32), "short": np.zeros(1, np.float32)}
        return answers.get(self.mode)
    def scores(self, query, pool): return self._fail(pool.size)
    def fuse(self, query, pool, legs): return self._fail(pool.size)
    def boosts(self, query, pool):
        self._fail(pool.size)
        return np.arange(pool.size), np.full(pool.size, np.inf, np.float32)
    def rerank(self, query, candidates): return self._fail(len(candidates))
    def penalty(self, candidate, chosen): return self._fail(1)
    def decide(self, query, candidate):
        self._fail(1)
        return None

def render(record):
    raise RuntimeError("out of order")

@hookimpl
def olav_register_rankers():
    stages = {"leg": "retrieve", "fuser": "fuse", "booster": "boost", "reranker": "rerank",
              "diversifier": "diversify"}
    return [RankerSpec(id=f"bad_{id}", stage=stage, purpose="Fails", factory=Raises)
            for id, stage in stages.items()]

@hookimpl
def olav_register_gates():
    return [GateSpec(id="bad_gate", purpose="Fails", factory=Raises)]

@hookimpl
def olav_register_categories():
    rules = dict(title="T", purpose="P", boosts=("bad_booster",))
    return [CategorySpec(id="plain", **rules), CategorySpec(id="shown", render=render, **rules),
            CategorySpec(id="guarded", gates=(GateUse("bad_gate"),), **rules)]
"""


@pytest.mark.parametrize("mode", ["raise", "nan", "short", "none"])
@pytest.mark.parametrize("stage", ["leg", "fuser", "booster", "reranker", "diversifier"])
def test_case_14_a_stage_that_fails_is_named_and_the_rest_goes_on(make: Make, stage: str, mode: str) -> None:
    rankers = ["vector", "bm25", "bad_fuser" if stage == "fuser" else "score_fusion"]
    rankers += [] if stage == "fuser" else [f"bad_{stage}"]
    options = f"{{bad_{stage}: {{mode: {mode}}}}}"
    memory = make(
        plugins={"olav_stages": STAGES},
        settings=f"recall: {{rankers: [{', '.join(rankers)}], ranker_options: {options}}}",
    )
    fill(memory, [f"router r{number} is in rack {number}" for number in range(30)], category="plain")
    good = make(
        "good", plugins={"olav_stages": STAGES}, settings="recall: {rankers: [vector, bm25, score_fusion]}"
    )
    fill(good, [f"router r{number} is in rack {number}" for number in range(30)], category="plain")
    recall = memory.recall("router r7 in rack 7", tier="large")
    if (stage, mode) != ("diversifier", "short"):  # one zero is a penalty
        assert recall.degraded
    expected = texts_of(good.recall("router r7 in rack 7", tier="large"))
    if stage == "fuser":
        assert recall.items[0].text == expected[0]
    else:
        assert texts_of(recall) == expected
    json_object = recall.to_dict(explain=True)
    assert json_object["degraded"] == list(recall.degraded)
    assert all(trace.decision and trace.reason for trace in recall.trace)


def test_a_gate_that_fails_is_closed_and_a_render_that_fails_breaks_nothing(make: Make) -> None:
    memory = make(plugins={"olav_stages": STAGES})
    for category in ("plain", "guarded", "shown"):
        memory.remember(f"the {category} router", category=category)
    recall = memory.recall("the router", tier="large")
    assert "guarded" not in {item.category for item in recall.items}
    assert "plain" in {item.category for item in recall.items}
    assert any("bad_gate" in line for line in recall.degraded)
    assert any("shown" in line for line in recall.degraded)


@pytest.mark.parametrize("in_memory", [True, False], ids=["texts-in-memory", "texts-on-disk"])
def test_a_memory_deleted_during_its_recall_is_shown_as_it_was_or_left_out(
    make: Make, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    """The index still holds the rows, the table does not any more."""
    if not in_memory:
        monkeypatch.setattr("olav_core.index.record_cache.RecordCache.pack", lambda self, rows: None)
    memory = make()
    ids = fill(memory, ["router r1 is up", "router r2 is up"])
    ids += fill(memory, ["do not touch router r1"], category="reflection")
    memory.index.sync()
    pool_of = memory.index.pool

    def deleting(*args: object, **options: object) -> object:
        pool = pool_of(*args, **options)  # type: ignore[arg-type]
        memory.store.delete([ids[0], ids[2]])
        return pool

    with monkeypatch.context() as patch:
        patch.setattr(memory.index, "pool", deleting)
        recall = memory.recall("do not touch router r1", tier="large")
    assert recall.degraded == ()
    decisions = {trace.id: trace.decision for trace in recall.trace}
    assert decisions[ids[1]] == "injected"
    assert {decisions[ids[0]], decisions[ids[2]]} == {"injected" if in_memory else "gone"}
    assert {item.id for item in recall.items} == {id for id, made in decisions.items() if made == "injected"}
    assert texts_of(memory.recall("do not touch router r1", tier="large")) == ["router r2 is up"]
