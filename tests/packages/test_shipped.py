"""Priming shipped directives, and the embedder that changed before it (CASES 50)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from package_files import guide, skill_folder

import olav_core
from olav_core import EmbeddingDimMismatchError, Memory
from olav_core.cli.main import main
from olav_core.packages.agents import install_agent, remove_agent
from olav_core.packages.shipped import prime_directives, settle_space

PLUGIN = """
from pathlib import Path
from olav_core import DirectiveSpec, hookimpl

@hookimpl
def olav_register_directives():
    return [DirectiveSpec(id="rules", purpose="Rules", folder=Path({str_folder!r}))]
"""


def olav(*args: object, code: int = 0) -> Any:
    result = CliRunner().invoke(main, [*map(str, args), "--json"], prog_name="olav")
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    return json.loads(result.stdout)


def rows(memory: Memory) -> dict[str, tuple[str, str, str]]:
    return {row.id: (row.text, row.scope, row.origin) for row in memory.list()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    olav("init", tmp_path / "ws", "--embedder", "hashing", "--option", "dimension=64")
    return tmp_path / "ws"


def use_dimension(root: Path, dimension: int) -> None:
    config = root / ".olav" / "config.yaml"
    config.write_text(f"embedder:\n  id: hashing\n  options: {{dimension: {dimension}}}\n", encoding="utf-8")


def test_init_primes_what_is_shipped_in_both_languages(root: Path) -> None:
    with olav_core.open(root) as memory:
        found = memory.list(category="usage_guide")
        intents = {row.metadata["intent"] for row in found}
        named = (
            "take_snapshot_when_db_stale",
            "troubleshoot_layered_l1_to_l4",
            "schema_introspection_via_describe_table",
            "check_pending_drafts_first",
        )
        assert intents == {intent + suffix for intent in named for suffix in ("", "_zh")}
        assert {row.scope for row in found} == {"global"}
        assert {row.metadata["load"] for row in found} == {"on_intent"}
        assert all(row.metadata["directory"].startswith(".olav/shipped/") for row in found)
        assert prime_directives(memory)[0].unchanged == len(found)
        assert memory.import_guides(root).retired == 0


def test_init_without_directives_and_init_in_python_prime_nothing(tmp_path: Path) -> None:
    assert olav("init", tmp_path / "a", "--embedder", "hashing", "--no-directives")["shipped"] == 0
    with olav_core.init(tmp_path / "b", embedder="hashing") as memory:
        assert memory.list() == []


def test_what_an_operator_decided_stands(root: Path) -> None:
    with olav_core.open(root) as memory:
        count = len(memory.list())
        by_intent = {row.metadata["intent"]: row.id for row in memory.list()}
        memory.forget(by_intent["check_pending_drafts_first"])
        mine = root / "core" / "guides" / "mine.guide.yaml"
        mine.parent.mkdir(parents=True)
        text = guide("take_snapshot_when_db_stale", "Never take a snapshot by day.", agent="core")
        mine.write_text(text, encoding="utf-8")
        assert memory.import_guides(root).changed == 1
    primed = olav("kb", "prime", "--workspace", root)["directives"]["platform"]
    assert (primed["kept"], primed["erased"], primed["added"], primed["faults"]) == (1, 1, 0, [])
    with olav_core.open(root) as memory:
        texts = [row.text for row in memory.list()]
        assert len(texts) == count - 1
        assert "Never take a snapshot by day." in texts


def test_what_a_newer_version_ships_no_longer_is_retired(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    (shipped / "core" / "guides").mkdir(parents=True)
    for name in ("old", "kept"):
        (shipped / "core" / "guides" / f"{name}.guide.yaml").write_text(guide(name, f"Rule {name}."))

    plugin = tmp_path / "ws" / ".olav" / "plugins" / "olav_rules.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(PLUGIN.format(str_folder=str(shipped)), encoding="utf-8")
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        assert memory.registry.owner("directives", "rules").name == "olav_rules"
        assert {report.directory: report.added for report in prime_directives(memory)} == {
            ".olav/shipped/platform": 8,
            ".olav/shipped/rules": 2,
        }
        (shipped / "core" / "guides" / "old.guide.yaml").unlink()
        assert sum(report.retired for report in prime_directives(memory)) == 1
        assert "Rule kept." in [row.text for row in memory.list()]
        assert "Rule old." not in [row.text for row in memory.list()]


def test_a_folder_that_is_none_is_a_fault_of_its_plug_in(tmp_path: Path) -> None:
    plugin = tmp_path / "plugins" / "olav_rules.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(PLUGIN.format(str_folder=str(tmp_path / "nothing")), encoding="utf-8")
    registry = olav_core.build_registry(plugin_dir=plugin.parent)
    assert "rules" not in registry.directives
    (fault,) = registry.faults
    assert "folder" in str(fault)
    assert "package data" in str(fault)


def test_case_50_a_users_rows_survive_every_installation_and_import(root: Path, tmp_path: Path) -> None:
    with olav_core.open(root) as memory:
        memory.remember("R1 is ours", scope="analyzer")
        memory.remember("首选 OSPF", category="preference")
        memory.remember("a rule by hand", category="usage_guide", metadata={"intent": "hand"})
        mine = {id: row for id, row in rows(memory).items() if row[2] == "user"}
        assert len(mine) == 3
        for version in ("1", "2"):
            install_agent(memory, skill_folder(tmp_path / version, version=version))
        prime_directives(memory)
        memory.import_guides(root)
        memory.reembed("hashing", {"dimension": 32})
        remove_agent(memory, "analyzer")
        memory.optimize()
        assert mine.items() <= rows(memory).items()


@pytest.mark.parametrize("by", ["agent install", "kb prime"])
def test_case_50_a_store_of_shipped_guides_moves_to_the_new_embedder(
    root: Path, tmp_path: Path, by: str
) -> None:
    with olav_core.open(root) as memory:
        install_agent(memory, skill_folder(tmp_path / "first", name="first"))
        before = rows(memory)
    use_dimension(root, 96)
    if by == "kb prime":
        olav("kb", "prime", "--workspace", root)
    else:
        olav("agent", "install", skill_folder(tmp_path / "second", name="second"), "--workspace", root)
    with olav_core.open(root) as memory:
        assert memory.status()["embedder"]["dimension"] == 96
        assert before.items() <= rows(memory).items()
        assert memory.recall("x9", agent="first").items


@pytest.mark.parametrize("by", ["a fact", "a guide of the team", "a guide by hand"])
def test_case_50_with_any_other_row_the_mismatch_is_refused(root: Path, tmp_path: Path, by: str) -> None:
    with olav_core.open(root) as memory:
        if by == "a fact":
            memory.remember("R1 is ours")
        elif by == "a guide by hand":
            memory.remember("by hand", category="usage_guide", metadata={"intent": "hand"})
        else:
            place = root / "core" / "guides" / "ours.guide.yaml"
            place.parent.mkdir(parents=True)
            place.write_text(guide("ours", "Our rule."), encoding="utf-8")
            memory.import_guides(root)
        before = rows(memory)
    use_dimension(root, 96)
    source = skill_folder(tmp_path / "a")
    for command in (("agent", "install", source), ("kb", "prime")):
        error = olav(*command, "--workspace", root, code=1)["error"]
        assert error["type"] == "EmbeddingDimMismatchError"
        assert "reembed" in error["message"]
    assert not (root / ".olav" / "agents").exists()
    with olav_core.open(root) as memory:
        assert rows(memory) == before
        with pytest.raises(EmbeddingDimMismatchError):
            settle_space(memory)
