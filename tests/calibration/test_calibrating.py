"""`olav calibrate`: measured on a store's own rows, applied in the store, and taken back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import olav_core
from olav_core import Draft, Memory, RecordError
from olav_core.calibration.probes import off_topic
from olav_core.cli.main import main
from olav_core.doctor.examination import examine
from olav_core.errors import EmbeddingSpaceMismatchError, StoreError
from olav_core.store.calibrations import Calibration

DEVICES = [
    f"{kind}-{place}-{n}" for kind in ("leaf", "spine", "edge") for place in ("sha", "bjs") for n in range(5)
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    with olav_core.init(tmp_path / "w", embedder="hashing") as memory:
        memory.remember_many(
            [
                Draft(
                    text=f"Never reload {device} while its peer is in maintenance; 先查 {device} 的对端状态",
                    category="reflection",
                    origin="agent",
                    metadata={"trigger": f"reload {device} 重启"},
                )
                for device in DEVICES
            ]
            + [Draft(text=f"{device} carries vlan {n}", category="fact") for n, device in enumerate(DEVICES)]
        )
    return tmp_path / "w"


@pytest.fixture
def golden(workspace: Path, tmp_path: Path) -> Path:
    """A question for every fact, half of them in Chinese."""
    with olav_core.open(workspace) as memory:
        facts = memory.list(category="fact")
    lines = []
    for n, record in enumerate(facts):
        device = record.text.split()[0]
        query = f"which vlan is on {device}?" if n % 2 else f"{device} 上是哪个 vlan"
        lines.append(json.dumps({"query": query, "relevant": [record.id]}, ensure_ascii=False))
    path = tmp_path / "golden.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def olav(workspace: Path) -> Callable[..., Any]:
    def run(*words: object, code: int = 0) -> Any:
        done = CliRunner().invoke(main, [*map(str, words), "--workspace", str(workspace), "--json"])
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    return run


def thresholds(memory: Memory, category: str) -> dict[str, float]:
    chain = memory._engine.pipeline.chain
    return {
        name: gate.max
        for gates in (chain.quick_gates, chain.record_gates)
        for name, gate in gates[category].items()
        if hasattr(gate, "max")
    }


def test_own_questions_give_scale_and_thresholds_and_change_nothing(workspace: Path) -> None:
    with olav_core.open(workspace) as memory:
        before = thresholds(memory, "reflection")
        report = memory.calibrate()
        assert report.questions == {"reflection": 30}
        assert report.off_topic == len(off_topic()) > 200
        assert report.scale is not None
        assert 0 < report.scale.hit < report.scale.noise
        (found,) = [each for each in report.separations if each.category == "reflection"]
        assert found.auc > 0.9
        assert found.recommended is not None
        assert thresholds(memory, "reflection") == before
        assert memory.store.calibrations.all() == []


def test_applied_it_holds_in_this_process_in_the_next_and_goes_when_reverted(
    workspace: Path, olav: Callable[..., Any]
) -> None:
    shipped = 0.65
    with olav_core.open(workspace) as memory:
        assert thresholds(memory, "reflection") == {"distance": shipped}
        applied = memory.apply_calibration(memory.calibrate().calibration())
        assert applied.version == 1
        assert thresholds(memory, "reflection") == applied.thresholds["reflection"] != {"distance": shipped}
        assert memory.recall("reload leaf-sha-0 重启", limit=13).items[0].canonical_distance is not None
    with olav_core.open(workspace) as memory:
        assert thresholds(memory, "reflection") == applied.thresholds["reflection"]
    assert [each["in_use"] for each in olav("calibrate", "--revert", 0)["versions"]] == [False, True]
    with olav_core.open(workspace) as memory:
        assert thresholds(memory, "reflection") == {"distance": shipped}
    assert olav("calibrate", "--revert", 1)["versions"][2]["thresholds"] == applied.thresholds


def test_a_gate_that_the_configuration_sets_stays(workspace: Path) -> None:
    config = workspace / ".olav" / "config.yaml"
    config.write_text(
        config.read_text("utf-8") + "categories:\n  reflection:\n    gates: [{id: distance, max: 0.5}]\n",
        encoding="utf-8",
    )
    with olav_core.open(workspace) as memory:
        memory.apply_calibration(memory.calibrate().calibration())
        assert thresholds(memory, "reflection") == {"distance": 0.5}


def test_golden_questions_in_two_languages(olav: Callable[..., Any], golden: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = olav("calibrate", "--golden", golden, "--html", page)
    assert found["questions"] == {"fact": 30}
    assert found["applied"] is None
    (gate,) = [each for each in found["gates"] if each["category"] == "fact"]
    assert gate["kept"]["n"] == 30
    assert 0 <= gate["kept"]["low"] <= gate["kept"]["share"] <= gate["kept"]["high"] <= 1
    assert sum(gate["histogram"]["hits"]) > 0
    html = page.read_text("utf-8")
    assert "<svg" in html
    assert "fact · evidence" in html
    assert "http" not in html.replace("http-equiv", "")


def test_a_golden_question_counts_once(olav: Callable[..., Any], golden: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.jsonl"
    twice.write_text(golden.read_text("utf-8").rstrip("\n") + "\n" + golden.read_text("utf-8"), "utf-8")
    assert olav("calibrate", "--golden", twice)["questions"] == {"fact": 30}


@pytest.mark.parametrize("text", ["", "\n\n", '{"query": "谁 knows", "relevant": []}\n'])
def test_a_golden_file_without_a_usable_question_says_so(
    olav: Callable[..., Any], workspace: Path, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "none.jsonl"
    path.write_text(text, "utf-8")
    assert "no question that a memory answers" in json.dumps(olav("calibrate", "--golden", path, code=1))


def test_a_page_that_cannot_be_written_applies_nothing(
    olav: Callable[..., Any], golden: Path, tmp_path: Path
) -> None:
    words = ("calibrate", "--golden", golden, "--apply", "--html")
    told = olav(*words, tmp_path / "none" / "page.html", code=1)
    assert "page.html cannot be written" in json.dumps(told)
    assert olav("calibrate", "--history") == {"versions": []}
    assert olav(*words, tmp_path / "page.html")["applied"] == 1
    assert "<html" in (tmp_path / "page.html").read_text("utf-8")
    assert not list(tmp_path.glob(".page*"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ('{"relevant": []}', "field query"),
        ('{"query": "x", "relevant": "fact:1"}', "field relevant"),
        ('{"query": "x", "relevant": ["fact:1"]}', "no memory 'fact:1'"),
    ],
)
def test_a_bad_golden_file_is_told_with_line_and_field(
    workspace: Path, tmp_path: Path, line: str, said: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("\n" + line, encoding="utf-8")
    with olav_core.open(workspace) as memory, pytest.raises(RecordError, match=said) as raised:
        memory.calibrate(path)
    assert "bad.jsonl:2:" in str(raised.value)


def test_a_store_that_answers_nothing_says_what_to_do(tmp_path: Path) -> None:
    with (
        olav_core.init(tmp_path / "empty", embedder="hashing") as memory,
        pytest.raises(RecordError, match="Import guides, or give"),
    ):
        memory.calibrate()


def test_a_gate_without_a_recommendation_decides_as_before(workspace: Path, golden: Path) -> None:
    """The scale moves, so its threshold moves along: the same memories pass."""
    with olav_core.open(workspace) as memory:
        memory.apply_calibration(memory.calibrate(golden).calibration())
        first = {each.category: each for each in memory.calibrate(golden).separations}["fact"]
        memory.apply_calibration(memory.calibrate().calibration())  # asks about reflections: another scale
        other = memory.store.calibrations.current()
        assert other is not None
        assert other.scale != memory.store.calibrations.all()[0].scale
        again = {each.category: each for each in memory.calibrate(golden).separations}["fact"]
    assert again.kept(again.threshold) == first.kept(first.threshold)
    assert again.injected(again.threshold) == first.injected(first.threshold)


def test_few_rows_give_no_scale(tmp_path: Path) -> None:
    with olav_core.init(tmp_path / "few", embedder="hashing") as memory:
        memory.remember("never reload r1", category="reflection", metadata={"trigger": "reload r1"})
        report = memory.calibrate()
        assert report.scale is None
        assert all(each.recommended is None for each in report.separations)


def test_another_embedders_calibration_is_refused_and_not_used(workspace: Path) -> None:
    with olav_core.open(workspace) as memory:
        memory.apply_calibration(memory.calibrate().calibration())
        memory.reembed("hashing", {"dimension": 96})
        assert memory.store.calibrations.current() is None
        assert thresholds(memory, "reflection") == {"distance": 0.65}
        with pytest.raises(EmbeddingSpaceMismatchError, match="another embedder"):
            memory.apply_calibration(Calibration(fingerprint="{}"))
    found = [item for item in examine(workspace).findings if item.check == "calibration"]
    assert [item.level for item in found] == ["warning"]
    assert "another embedder" in found[0].what


def test_doctor_tells_when_the_store_has_outgrown_its_calibration(workspace: Path) -> None:
    with olav_core.open(workspace) as memory:
        memory.apply_calibration(memory.calibrate().calibration())
    (found,) = [item for item in examine(workspace).findings if item.check == "calibration"]
    assert found.level == "ok"
    with olav_core.open(workspace) as memory:
        memory.remember_many([Draft(text=f"port {n} is dark", category="fact") for n in range(60)])
    (found,) = [item for item in examine(workspace).findings if item.check == "calibration"]
    assert found.level == "warning"
    assert "120 now" in found.what


def test_a_calibration_that_cannot_be_understood_is_told(workspace: Path) -> None:
    with olav_core.open(workspace) as memory:
        memory.apply_calibration(Calibration(fingerprint=memory.store.fingerprint))
        memory.store.side_table("calibration").update(values={"values": "no JSON"})
        with pytest.raises(StoreError, match="calibration"):
            memory.store.calibrations.all()


def test_a_recall_under_way_ends_with_the_calibration_it_began_with(workspace: Path) -> None:
    with olav_core.open(workspace) as memory:
        under_way = memory._engine.pipeline
        scale, chain = under_way.scale, under_way.chain
        memory.apply_calibration(memory.calibrate().calibration())
        assert under_way.scale is scale
        assert under_way.chain is chain
        assert memory._engine.pipeline.scale is not scale
        assert memory._engine.pipeline.chain is not chain


def test_two_at_once_get_two_versions(workspace: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with olav_core.open(workspace) as one, olav_core.open(workspace) as two:
        empty = Calibration(fingerprint=one.store.fingerprint)
        with ThreadPoolExecutor(4) as pool:
            applied = list(pool.map(lambda n: (one, two)[n % 2].apply_calibration(empty).version, range(6)))
    assert sorted(applied) == [1, 2, 3, 4, 5, 6]
