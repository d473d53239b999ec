"""Installing, updating and removing agents."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from package_files import SKILL, guide, skill_folder, zipped

import olav_core
from olav_core import EmbedderUnavailableError, ImportFaultsError, Memory, PackageError
from olav_core.packages.agents import agent_folder, install_agent, list_agents, remove_agent
from olav_core.packages.skill import agent_name_fault, read_skill


def files(memory: Memory) -> dict[str, bytes]:
    root = memory.workspace.directory
    folders = [root / "agents", root / "bundles", root / "installing"]
    return {
        str(path.relative_to(root)): path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def rows(memory: Memory) -> list[tuple[str, str, str, str]]:
    return sorted((row.id, row.category, row.scope, row.text) for row in memory.list())


@pytest.mark.parametrize("kind", ["folder", "zip", "wrapped"])
def test_its_guides_and_formats_are_primed_in_its_scope(memory: Memory, tmp_path: Path, kind: str) -> None:
    source = skill_folder(tmp_path / "analyzer")
    if kind != "folder":
        source = zipped(source, tmp_path / "a.zip", inside="analyzer-1.0" if kind == "wrapped" else "")
    skill, report = install_agent(memory, source)
    assert (skill.name, skill.version, skill.reference_mode) == ("analyzer", "1.0", "on_intent")
    assert (report.added, report.embedded) == (3, 3)
    assert {row.scope for row in memory.list()} == {"analyzer"}
    assert {row.category for row in memory.list()} == {"usage_guide", "format_guide"}
    assert memory.recall("x9 BGP idle, look at L1", agent="analyzer").items
    assert not memory.recall("x9 BGP idle, look at L1", agent="netops").items
    (found,) = list_agents(memory.workspace)
    assert (found.name, found.version, found.source, found.fault) == ("analyzer", "1.0", source.name, "")
    assert agent_folder(memory.workspace, "analyzer") == memory.workspace.agents_directory / "analyzer"
    assert [path for path in files(memory) if path.startswith("installing")] == []


def test_installing_again_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    source = skill_folder(tmp_path / "analyzer")
    install_agent(memory, source)
    before = rows(memory)
    _, report = install_agent(memory, source)
    assert (report.added, report.unchanged, report.embedded) == (0, 3, 0)
    assert rows(memory) == before


def test_a_new_version_updates_and_retires_what_vanished(memory: Memory, tmp_path: Path) -> None:
    install_agent(memory, skill_folder(tmp_path / "v1"))
    (tmp_path / "v1" / "notes.md").write_text("gone in v2")
    mine = memory.remember("the analyzer's own note", scope="analyzer").id
    v2 = skill_folder(
        tmp_path / "v2", version="2.0", guides={"bgp_idle": "Look at optics first."}, formats=()
    )
    _, report = install_agent(memory, v2)
    assert (report.added, report.changed, report.retired) == (0, 1, 2)
    assert {row.text for row in memory.list()} == {"Look at optics first.", "the analyzer's own note"}
    assert memory.get(mine)
    assert list_agents(memory.workspace)[0].version == "2.0"
    assert not (memory.workspace.agents_directory / "analyzer" / "notes.md").exists()


def test_remove_forgets_exactly_what_it_brought(memory: Memory, tmp_path: Path) -> None:
    team = memory.workspace.root / "analyzer" / "guides" / "own.guide.yaml"
    team.parent.mkdir(parents=True)
    team.write_text(guide("own", "The team's own rule."), encoding="utf-8")
    memory.import_guides(memory.workspace.root)
    memory.remember("a fact of the analyzer", scope="analyzer")
    install_agent(memory, skill_folder(tmp_path / "o", name="other"))
    before = rows(memory)
    install_agent(memory, skill_folder(tmp_path / "a"))
    assert remove_agent(memory, "analyzer") == 3
    assert rows(memory) == before
    assert [agent.name for agent in list_agents(memory.workspace)] == ["other"]
    with pytest.raises(PackageError, match="not installed"):
        remove_agent(memory, "analyzer")
    _, report = install_agent(memory, skill_folder(tmp_path / "a"))  # no tombstone keeps it out
    assert report.added == 3


def test_the_import_of_the_workspace_leaves_installed_agents_alone(memory: Memory, tmp_path: Path) -> None:
    install_agent(memory, skill_folder(tmp_path / "a"))
    before = rows(memory)
    report = memory.import_guides(memory.workspace.root)
    assert report.retired == 0
    assert rows(memory) == before
    mine = memory.workspace.root / "analyzer" / "guides" / "bgp_idle.guide.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text(guide("bgp_idle", "Mine."), encoding="utf-8")
    (fault,) = memory.import_guides(memory.workspace.root).faults
    assert "imported before" in fault.message
    assert rows(memory) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"SKILL.md": "---\nname: a b\n---\n"}, "must be letters"),
        ({"SKILL.md": "---\nname: ../x\n---\n"}, "must be letters"),
        ({"SKILL.md": "---\nname: core\n---\n"}, "reserved"),
        ({"SKILL.md": "---\nname: 7\n---\n"}, "must be letters"),
        ({"SKILL.md": "no front matter"}, "key 'name' is missing"),
        ({"SKILL.md": "---\nname: [a\n---\n"}, "SKILL.md:3: its front matter is no YAML"),
        ({"SKILL.md": "---\nname: a\ndeep: " + "[" * 5000 + "\n---\n"}, "no YAML"),
        ({"SKILL.md": "---\n- a\n---\n"}, "key: value"),
        ({"SKILL.md": "---\nname: a\nstatic_contex: x\n---\n"}, "Did you mean 'static_context'"),
        ({"SKILL.md": "---\nname: a\nstatic_context: ../../etc/passwd\n---\n"}, "inside the folder"),
        ({"SKILL.md": "---\nname: a\nstatic_context: /etc/passwd\n---\n"}, "inside the folder"),
        ({"SKILL.md": "---\nname: a\nstatic_context: none.md\n---\n"}, "no such file"),
        (
            {"SKILL.md": "---\nname: a\nstatic_context_mode: sometimes\n---\n"},
            "none of always, on_intent, off",
        ),
        ({"SKILL.md": "---\nname: a\nstatic_context: [{file: DEEP.md, mode: x}]\n---\n"}, "neither always"),
        ({"SKILL.md": "---\nname: a\nstatic_context: [DEEP.md, ./DEEP.md]\n---\n"}, "twice"),
        ({"AGENT.md": "---\nname: a\n---\n"}, "has both"),
        ({"SKILL.md": b"---\nname: a\n---\n\xb2\xe2\xca\xd4\xb2\xe2\xca\xd4"}, "GB18030"),
    ],
)
def test_a_faulty_skill_changes_nothing(
    memory: Memory, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    source = skill_folder(tmp_path / "a")
    for name, content in change.items():
        raw = content if isinstance(content, bytes) else content.encode()
        (source / name).write_bytes(raw)
    with pytest.raises(PackageError, match=message):
        install_agent(memory, source)
    assert memory.list() == []
    assert files(memory) == {}


def test_a_faulty_guide_of_a_new_version_leaves_the_old_one_as_it_was(memory: Memory, tmp_path: Path) -> None:
    install_agent(memory, skill_folder(tmp_path / "v1"))
    before = rows(memory), files(memory)
    v2 = skill_folder(tmp_path / "v2", version="2", guides={"bgp_idle": "New."})
    (v2 / "guides" / "bad.guide.yaml").write_text("schema_version: 1\n", encoding="utf-8")
    with pytest.raises(ImportFaultsError, match=r"v2/guides/bad\.guide\.yaml"):
        install_agent(memory, v2)
    assert (rows(memory), files(memory)) == before


def test_a_guide_for_others_needs_to_be_allowed(memory: Memory, tmp_path: Path) -> None:
    source = skill_folder(tmp_path / "a")
    text = guide("loud", "Everybody obeys.", extra="scope: global\n")
    (source / "guides" / "loud.guide.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PackageError, match=r"loud\.guide\.yaml: scope 'global'"):
        install_agent(memory, source)
    assert memory.list() == []
    install_agent(memory, source, any_scope=True)
    assert "global" in {row.scope for row in memory.list()}
    assert remove_agent(memory, "analyzer") == 4


def test_a_row_of_somebody_else_is_a_fault(memory: Memory, tmp_path: Path) -> None:
    mine = {"intent": "bgp_idle", "agent": "analyzer", "keywords": []}
    memory.remember("mine", category="usage_guide", scope="analyzer", metadata=mine)
    before = rows(memory)
    with pytest.raises(ImportFaultsError, match="bgp_idle"):
        install_agent(memory, skill_folder(tmp_path / "a"))
    assert (rows(memory), files(memory)) == (before, {})


@pytest.mark.parametrize("version", ["first", "update"])
def test_an_embedder_that_fails_in_the_middle_leaves_everything_as_it_was(
    memory: Memory, tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if version == "update":
        install_agent(memory, skill_folder(tmp_path / "v1"))
    before = rows(memory), files(memory)
    source = skill_folder(tmp_path / "v2", version="2", guides={"bgp_idle": "New text.", "more": "More."})

    def broken(*args: object, **options: object) -> None:
        raise EmbedderUnavailableError("the embedder went away")

    with monkeypatch.context() as patch:
        patch.setattr(memory.embedder, "passages_each", broken)
        with pytest.raises(EmbedderUnavailableError):
            install_agent(memory, source)
        assert (rows(memory), files(memory)) == before
    _, report = install_agent(memory, source)
    assert report.added + report.changed >= 2


def test_case_49_an_installation_touches_only_what_its_folder_brought(memory: Memory, tmp_path: Path) -> None:
    bodies = {f"rule_{number}": f"Rule {number} 规则。" for number in range(54)}
    a = skill_folder(tmp_path / "a", name="a", guides=bodies, formats=())
    b = skill_folder(tmp_path / "b", name="b", guides=bodies, formats=())
    assert install_agent(memory, a)[1].embedded == 54
    of_a = rows(memory)
    assert install_agent(memory, b)[1].added == 54
    assert set(of_a) <= set(rows(memory))
    again = install_agent(memory, a)[1]
    assert (again.embedded, again.added, again.unchanged) == (0, 0, 54)
    one = a / "guides" / "rule_7.guide.yaml"
    one.write_text(one.read_text(encoding="utf-8").replace("Rule 7 ", "Rule seven "), encoding="utf-8")
    assert (edited := install_agent(memory, a)[1]).embedded == edited.changed == 1
    one.write_text(one.read_text(encoding="utf-8") + "scope: netops\n", encoding="utf-8")
    moved = install_agent(memory, a, any_scope=True)[1]
    assert (moved.moved, moved.embedded) == (1, 0)
    assert [row.text for row in memory.list(scopes=["netops"])] == ["Rule seven 规则。"]
    one.unlink()
    assert install_agent(memory, a)[1].retired == 1
    assert len(memory.list(scopes=["a"])) == 53
    assert len(memory.list(scopes=["b"])) == 54


def test_a_link_in_the_folder_is_refused(memory: Memory, tmp_path: Path) -> None:
    source = skill_folder(tmp_path / "a")
    os.symlink("/etc/hostname", source / "references" / "link.md")
    with pytest.raises(PackageError, match="is a link"):
        install_agent(memory, source)
    assert files(memory) == {}


def test_two_names_that_differ_by_case_only(memory: Memory, tmp_path: Path) -> None:
    install_agent(memory, skill_folder(tmp_path / "a"))
    with pytest.raises(PackageError, match="by case only"):
        install_agent(memory, skill_folder(tmp_path / "b", name="Analyzer"))


def test_a_chinese_agent(memory: Memory, tmp_path: Path) -> None:
    skill, _ = install_agent(memory, skill_folder(tmp_path / "a", name="网络运维"))
    assert skill.name == "网络运维"
    assert memory.recall("x9 先查 MTU", agent="网络运维").items


@given(st.text(max_size=80))
def test_a_sound_name_is_one_plain_folder(name: str) -> None:
    if not agent_name_fault(name):
        assert Path(name).name == name
        assert not name.startswith(".")
        assert "\x00" not in name
        assert Path("/a", name).resolve() == Path("/a", name)


def test_a_folder_by_hand_goes_before_an_installed_one(memory: Memory, tmp_path: Path) -> None:
    install_agent(memory, skill_folder(tmp_path / "a"))
    own = memory.workspace.root / "analyzer"
    own.mkdir()
    assert agent_folder(memory.workspace, "analyzer") != own
    (own / "AGENT.md").write_text("---\ndescription: ours\n---\n", encoding="utf-8")
    assert agent_folder(memory.workspace, "analyzer") == own
    assert agent_folder(memory.workspace, "../analyzer") is None


def test_a_damaged_installed_agent_is_listed_with_its_fault_and_can_be_removed(
    memory: Memory, tmp_path: Path
) -> None:
    install_agent(memory, skill_folder(tmp_path / "a"))
    (memory.workspace.agents_directory / "analyzer" / "SKILL.md").unlink()
    (found,) = list_agents(memory.workspace)
    assert "neither" in found.fault
    assert remove_agent(memory, "analyzer") == 3


@pytest.mark.parametrize("moment", ["noted", "switched"])
@pytest.mark.parametrize("before", [True, False])
def test_what_a_killed_process_left_is_completed_by_the_next_opening(
    tmp_path: Path, moment: str, before: bool
) -> None:
    from olav_core.packages.installer import Installer
    from olav_core.packages.journal import Change

    root = tmp_path / "ws"
    with olav_core.init(root, embedder="hashing") as memory:
        if before:
            install_agent(memory, skill_folder(tmp_path / "v1"))
        work = Installer(memory, "agents")
        with work.at_work():
            token, staged = work.stage("analyzer")
            skill_folder(staged, version="2", guides={"new": "A new rule."}, formats=())
            change = Change(kind="agents", name="analyzer", token=token, install=True)
            work.journal.note(change)
            if moment == "switched":
                place = work.place("analyzer")
                place.parent.mkdir(exist_ok=True)
                if place.exists():
                    place.rename(work.journal.replaced(change))
                staged.rename(place)
            # The process dies here: at_work() must not sweep.
            note = work.journal.folder / "agents-analyzer.json"
            assert json.loads(note.read_text())["token"] == token
    with olav_core.open(root) as memory:
        assert [row.text for row in memory.list()] == ["A new rule."]
        assert list_agents(memory.workspace)[0].version == "2"
        assert [path.name for path in (root / ".olav" / "installing").iterdir()] == [".lock"]


def test_two_at_once_take_turns(memory: Memory, tmp_path: Path) -> None:
    versions = {"1": "The first rule.", "2": "The second rule."}
    sources = [
        skill_folder(tmp_path / version, version=version, guides={f"rule{version}": body}, formats=())
        for version, body in versions.items()
    ]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: install_agent(memory, sources[number % 2]), range(8)))
    (agent,) = list_agents(memory.workspace)
    assert [row.text for row in memory.list()] == [versions[agent.version]]


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from olav_core.cli.main import main

    monkeypatch.chdir(tmp_path)
    skill_folder(tmp_path / "src")

    def olav(*args: str, code: int = 0) -> Any:
        result = CliRunner().invoke(main, [*args, "--json"], prog_name="olav")
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return json.loads(result.stdout)

    olav("init", "--embedder", "hashing", "--no-directives")
    made = olav("agent", "install", "src")
    assert (made["name"], made["import"]["added"]) == ("analyzer", 3)
    assert made["static_context"] == ["REQUIRED.md", "DEEP.md"]
    assert made["references"] == ["references/mermaid.md"]
    assert [agent["name"] for agent in olav("agent", "list")["agents"]] == ["analyzer"]
    olav("remember", "mine", "--scope", "analyzer")
    assert olav("agent", "remove", "analyzer") == {"name": "analyzer", "removed": 3, "left": 1}
    assert olav("agent", "remove", "analyzer", code=1)["error"]["type"] == "PackageError"
    assert olav("agent", "install", "nothing", code=1)["error"]["type"] == "PackageError"
    plain = CliRunner().invoke(main, ["agent", "install", "src"], prog_name="olav")
    assert "Installed analyzer 1.0" in plain.stdout
    assert SKILL.format(name="analyzer", version="1.0") == Path(".olav/agents/analyzer/SKILL.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("receipt", ["[1]", "{", "[" * 100_000])
def test_a_receipt_that_is_none_costs_the_origin_only(memory: Memory, tmp_path: Path, receipt: str) -> None:
    install_agent(memory, skill_folder(tmp_path / "a"))
    (memory.workspace.agents_directory / "analyzer" / ".olav-agent.json").write_text(receipt, "utf-8")
    (found,) = list_agents(memory.workspace)
    assert (found.version, found.source, found.fault) == ("1.0", "", "")


def test_references_that_are_a_link_are_not_followed(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "a")
    assert [each.path for each in read_skill(folder).references()] == ["references/mermaid.md"]
    (folder / "references").rename(tmp_path / "elsewhere")
    (folder / "references").symlink_to(tmp_path / "elsewhere")
    assert read_skill(folder).references() == []
