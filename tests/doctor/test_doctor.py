"""`olav doctor`: every kind of trouble is found, named with its mend, and repaired where that is safe."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import olav_core
from olav_core import Draft, MemoryRecord
from olav_core.cli.main import main
from olav_core.cli.reference import walk
from olav_core.doctor import table
from olav_core.doctor.diagnosis import Diagnosis
from olav_core.doctor.examination import CHECKS, examine
from olav_core.index.lexical_sync import FOLD_ROWS
from olav_core.store import maintenance
from olav_core.store.store import Store

Found = Callable[..., list[Diagnosis]]


def database(workspace: Path) -> Path:
    return workspace / ".olav" / "databases" / "memory.lance"


def files(workspace: Path) -> dict[str, bytes]:
    """Every file, without the locks that merely opening leaves."""
    return {
        str(path.relative_to(workspace)): path.read_bytes()
        for path in workspace.rglob("*")
        if path.is_file() and not path.name.endswith((".readers", ".lock"))
    }


def fill(workspace: Path, rows: int, router: str = "R7") -> None:
    with olav_core.open(workspace) as memory:
        memory.remember_many(
            [Draft(text=f"interface {n} of {router} flapped", category="fact") for n in range(rows)]
        )


def test_a_healthy_workspace_has_nothing_but_ok_and_is_left_as_it_is(workspace: Path) -> None:
    before = files(workspace)
    examination = examine(workspace)
    # the hashing embedder has no measured scale; that alone is told
    assert [item.check for item in examination.findings if item.level != "ok"] == ["gates"]
    assert {check.name for check in CHECKS} == {item.check for item in examination.findings}
    assert files(workspace) == before


def test_the_command_gives_one_object_and_an_exit_code(workspace: Path) -> None:
    runner = CliRunner()
    result = runner.invoke(main, ["doctor", "--json", "-w", str(workspace)])
    out = json.loads(result.stdout)
    assert (result.exit_code, out["level"], out["workspace"]) == (0, "warning", str(workspace))
    assert out["counts"]["error"] == 0
    assert set(out["findings"][0]) == {"check", "level", "what", "mend"}
    shutil.rmtree(database(workspace) / "memory.lance")
    result = runner.invoke(main, ["doctor", "--json", "-w", str(workspace)])
    out = json.loads(result.stdout)
    assert (result.exit_code, out["level"]) == (1, "error")
    shown = runner.invoke(main, ["doctor", "-w", str(workspace)])
    assert shown.exit_code == 1
    assert "1 errors" in shown.stdout


def test_a_folder_without_a_workspace_is_a_finding(tmp_path: Path) -> None:
    (finding,) = [item for item in examine(tmp_path).findings if item.check == "workspace"]
    assert finding.level == "error"
    assert "olav init" in finding.what


@pytest.mark.parametrize(
    "setting",
    [
        "recall: {rankers: [vector]}",
        "recall: {ranker_options: {keyword_boost: {wieght: 1}}}",
        "categories: {reflection: {gates: [{id: distance, max: near}]}}",
    ],
)
def test_rankers_and_gates_that_no_recall_could_build_are_an_error(
    workspace: Path, found: Found, setting: str
) -> None:
    config = workspace / ".olav" / "config.yaml"
    config.write_text(f"embedder: {{id: hashing}}\n{setting}\n")
    (finding,) = found("ranking", "error")
    assert re.search(r"fuse|wieght|near", finding.what)


def test_broken_settings_hide_nothing_that_does_not_need_them(workspace: Path, found: Found) -> None:
    (workspace / ".olav" / "config.yaml").write_text("recal: {}\n")
    assert "Did you mean" in found("settings", "error")[0].what
    assert found("plug-ins", "ok")
    assert found("store") == []


def test_a_missing_table_is_an_error_and_nothing_is_created(workspace: Path, found: Found) -> None:
    shutil.rmtree(database(workspace) / "memory.lance")
    assert "olav init" in found("store", "error")[0].what
    examine(workspace, repair=True)
    assert not (database(workspace) / "memory.lance").exists()


def test_a_cut_data_file_is_found_by_reading_every_row(workspace: Path, found: Found) -> None:
    path = max((database(workspace) / "memory.lance" / "data").iterdir(), key=lambda p: p.stat().st_size)
    path.write_bytes(path.read_bytes()[:-200])
    assert "backup" in found("rows", "error")[0].mend


def test_a_row_twice_and_a_useless_vector_are_found(workspace: Path, found: Found) -> None:
    """Written past the store, as another program might."""
    with olav_core.open(workspace) as memory:
        rows = memory.store.table.to_arrow()
        zeros = np.zeros(memory.store.dimension * len(rows), np.float32)
        vectors = type(rows["vector"].combine_chunks()).from_arrays(zeros, memory.store.dimension)
        memory.store.table.add(rows.set_column(rows.schema.get_field_index("vector"), "vector", vectors))
    messages = " ".join(item.what for item in found("rows", "error"))
    assert "1 row with an id that is there already" in messages
    assert "without a usable vector" in messages


def test_missing_side_tables_are_created_on_request_only(workspace: Path, found: Found) -> None:
    shutil.rmtree(database(workspace) / "tombstone.lance")
    (finding,) = found("side tables", "warning")
    assert "erased texts could come back" in finding.what
    assert not (database(workspace) / "tombstone.lance").exists()
    examination = examine(workspace, repair=True)
    assert [(item.check, item.repaired) for item in examination.repairs] == [
        ("side tables", "created tombstone, empty")
    ]
    assert found("side tables", "warning") == []


def test_vectors_of_another_embedder_are_told_and_never_purged(workspace: Path, found: Found) -> None:
    with olav_core.open(workspace) as memory:
        memory.reembed("hashing", {"dimension": 64})
    (finding,) = found("leftovers", "warning")
    assert "1 vector of another embedder" in finding.what
    examine(workspace, repair=True)
    assert found("leftovers", "warning") == [finding]


def test_tags_that_hold_versions_are_named(workspace: Path, found: Found) -> None:
    with olav_core.open(workspace) as memory:
        memory.store.table.tags.create("mine", memory.store.version)
    assert "tags mine" in found("versions", "warning")[0].what


def test_many_versions_are_optimized_by_repair(
    workspace: Path, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MANY_VERSIONS", 4)
    with olav_core.open(workspace) as memory:
        for n in range(6):
            memory.remember(f"fact {n}")
    assert found("versions", "warning")
    examine(workspace, repair=True)
    assert found("versions", "warning") == []
    with olav_core.open(workspace) as memory:
        assert memory.store.count() == 7


def test_failed_maintenance_of_any_process_is_an_error_until_it_succeeds(
    workspace: Path, found: Found
) -> None:
    with olav_core.open(workspace) as memory:
        memory.store.upkeep.run(
            lambda _: maintenance.MaintenanceReport(failures=("compact table memory: disk full",))
        )
    (finding,) = found("maintenance", "error")
    assert "disk full" in finding.what
    assert examine(workspace, repair=True).level == "warning"
    assert found("maintenance", "error") == []


def test_expired_memories_that_wait_too_long_are_deleted_by_repair(workspace: Path, found: Found) -> None:
    now = datetime.now(UTC)
    with olav_core.open(workspace) as memory:
        memory.remember("long gone", expires_at=now - timedelta(days=3), timestamp=now - timedelta(days=9))
        memory.remember("just gone", expires_at=now - timedelta(hours=1), timestamp=now - timedelta(days=9))
    assert "1 memory expired more than a day ago" in found("expired rows", "warning")[0].what
    examine(workspace, repair=True)
    assert found("expired rows", "warning") == []
    with olav_core.open(workspace) as memory:
        assert [record.text for record in memory.list()] == ["R1 is the border router in Shanghai"]


def test_another_embedder_of_the_same_dimension_is_an_error(workspace: Path, found: Found) -> None:
    config = workspace / ".olav" / "config.yaml"
    config.write_text("embedder: {id: hashing, options: {dimension: 64}}\n")
    (finding,) = found("fingerprint", "error")
    assert "64" in finding.what
    assert finding.mend == "Run `olav kb reembed --to hashing`."
    assert found("rows", "ok")


def test_an_embedder_that_does_not_load_is_an_error(workspace: Path, found: Found) -> None:
    config = workspace / ".olav" / "config.yaml"
    config.write_text(f"embedder: {{id: onnx, options: {{path: {workspace / 'nowhere'}}}}}\n")
    assert "nowhere" in found("embedder", "error")[0].what
    assert found("fingerprint") == []
    assert found("store", "ok")


def test_an_unknown_embedder_is_told_with_the_nearest_one(workspace: Path, found: Found) -> None:
    (workspace / ".olav" / "config.yaml").write_text("embedder: {id: hashin}\n")
    assert "Did you mean 'hashing'" in found("embedder", "error")[0].what


ENGLISH = """
from olav_core import EmbedderSpec, hookimpl

class Embedder:
    def __init__(self, options):
        from olav_core import ModelIdentity
        self.identity = ModelIdentity(name="english", revision="1")
    def embed_queries(self, texts):
        import numpy as np
        return np.array([[len(text), 1.0] for text in texts], np.float32)
    embed_passages = embed_queries

@hookimpl
def olav_register_embedders():
    return [EmbedderSpec(id="english", title="English only", factory=Embedder, languages=("en",))]
"""


def test_chinese_rows_under_an_english_embedder_are_a_warning(tmp_path: Path) -> None:
    """CASES 9; also a model whose gates are not calibrated."""
    plugins = tmp_path / ".olav" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "olav_english.py").write_text(ENGLISH)
    with olav_core.init(tmp_path, embedder="english") as memory:
        memory.remember("变更之前先做快照，审批通过以后才能执行")
        memory.remember("take a snapshot first")
    findings = {item.check: item for item in examine(tmp_path).findings}
    assert findings["languages"].level == "warning"
    assert findings["languages"].what.startswith("1 memory in 'zh'")
    assert "reflection" in findings["gates"].what


def test_broken_plugins_are_errors_with_their_mend(workspace: Path, found: Found) -> None:
    plugins = workspace / ".olav" / "plugins"
    (plugins / "olav_bad.py").write_text("raise RuntimeError('boom')\n")
    (finding,) = found("plug-ins", "error")
    assert "boom" in finding.what
    assert finding.mend


def test_entry_points_that_need_a_reinstall_are_errors(
    workspace: Path, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    from olav_core.doctor import plugins

    monkeypatch.setattr(plugins, "stale_entry_points", lambda: {"olav-ticket": ("ticket",)})
    (finding,) = found("entry points", "error")
    assert "olav-ticket gained ticket" in finding.what
    assert "pip install -e" in finding.mend


@pytest.mark.parametrize("off", [True, False])
def test_rows_of_a_category_that_is_not_installed_are_counted(
    workspace: Path, found: Found, monkeypatch: pytest.MonkeyPatch, off: bool
) -> None:
    with olav_core.open(workspace) as memory:
        name = "decision" if off else "ticket"
        row = MemoryRecord(id=f"{name}:1", text="t", search_text="t", category=name)
        memory.store.upsert([row], np.ones((1, memory.store.dimension)))
    if off:
        monkeypatch.setenv("OLAV_DISABLE", "decision")
    (finding,) = found("orphans", "warning")
    assert finding.what.startswith(f"1 memory of category '{name}'")
    assert ("switched off" in finding.what) is off


def garble(directory: Path) -> None:
    path = max(directory.glob("*.term"), key=lambda p: p.stat().st_size)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 3] ^= 0xFF
    path.write_bytes(bytes(raw))


def behind(directory: Path) -> None:
    fill(directory.parents[1], 2 * FOLD_ROWS, router="R8")


def foreign(directory: Path) -> None:
    other = directory.parents[2] / "other"
    with olav_core.init(other, embedder="hashing") as memory:
        memory.remember("of another store")
        memory.recall("of another store")
    shutil.rmtree(directory)
    shutil.copytree(other / ".olav" / "index", directory)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (shutil.rmtree, "no index on disk"),
        (garble, "damaged"),
        (foreign, "another table"),
        (behind, "not indexed"),
    ],
)
def test_an_index_that_is_not_whole_is_a_warning_and_rebuilt_on_request(
    workspace: Path, found: Found, damage: Callable[[Path], Any], words: str
) -> None:
    """CASES 40. The next recall mends it as well; doctor tells, and touches nothing unasked."""
    fill(workspace, FOLD_ROWS + 36)
    with olav_core.open(workspace) as memory:
        memory.recall("flapped")
    index = workspace / ".olav" / "index"
    assert f"{FOLD_ROWS + 37} of {FOLD_ROWS + 37} memories" in found("index", "ok")[0].what
    damage(index)
    before = files(index) if index.exists() else {}
    (finding,) = found("index", "warning")
    assert words in finding.what
    assert (files(index) if index.exists() else {}) == before
    examination = examine(workspace, repair=True)
    assert [item.check for item in examination.repairs] == ["index"]
    assert found("index", "warning") == []


def test_captured_calls_that_failed_or_wait_are_told(
    workspace: Path, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    from olav_core.doctor import spool

    directory = workspace / ".olav" / "spool"
    directory.mkdir(exist_ok=True)
    (directory / "failed.jsonl").write_text('{"error": "x"}\n{"error": "y"}\n')
    (directory / "00000000000000000001-1-abc.jsonl").write_text("{}\n")
    assert "2 captured calls could not be stored" in found("captures", "warning")[0].what
    monkeypatch.setattr(spool, "LATE", -1)
    assert "1 captured call not stored yet" in found("captures", "warning")[1].what


def test_repair_never_changes_a_memory(workspace: Path) -> None:
    fill(workspace, 20)
    with olav_core.open(workspace) as memory:
        before = memory.list()
    shutil.rmtree(database(workspace) / "recall_log.lance")
    examine(workspace, repair=True)
    with olav_core.open(workspace) as memory:
        assert memory.list() == before


def test_every_command_that_a_mend_names_exists() -> None:
    commands = {path for path, _ in walk()}
    sources = Path(table.__file__).parent.glob("*.py")
    named = {
        match for path in sources for match in re.findall(r"`(olav [a-z]+(?: [a-z]+)?)", path.read_text())
    }
    assert named
    for name in named:
        assert name in commands or name.rpartition(" ")[0] in commands, name


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(
    workspace: Path, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "counts", lambda self: 1 / 0)
    assert "ZeroDivisionError" in found("orphans", "error")[0].what
    assert found("captures", "ok")


def test_a_wrong_line_of_a_lexicon_is_named(workspace: Path, found: Callable[..., list[Diagnosis]]) -> None:
    assert found("lexicons", "ok")
    folder = workspace / ".olav" / "lexicons"
    folder.mkdir()
    (folder / "good.tsv").write_text("大闸\tmain breaker\n", "utf-8")
    assert "1 line " in found("lexicons", "ok")[0].what
    (folder / "bad.tsv").write_text("# ours\n大闸 main breaker\n", "utf-8")
    (fault,) = found("lexicons", "error")
    assert "bad.tsv:2 is no line of a lexicon" in fault.what
    assert not found("lexicons", "ok")
