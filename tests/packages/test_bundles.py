"""Directive bundles: built alike, verified, installed whole, never tampered with, never older unasked."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from package_files import FORMAT, guide, skill_folder

import olav_core
from olav_core import ImportFaultsError, Memory, PackageError
from olav_core.cli.main import main
from olav_core.packages.agents import agent_folder, install_agent, list_agents, remove_agent
from olav_core.packages.bundles import (
    build_bundle,
    install_bundle,
    list_bundles,
    remove_bundle,
    verify_bundle,
)
from olav_core.packages.manifest import version_key


def source(place: Path, *, version: str = "1.0.0", rule: str = "Ask twice.", agents: bool = True) -> Path:
    """Write the folder of a bundle: a global guide, a format and a guide of netops, an agent."""
    files = {
        "bundle.yaml": f"name: telecom\nversion: '{version}'\ndescription: Rules for carriers\n",
        "core/guides/ask.guide.yaml": guide("ask", rule, agent="core", keyword="ask"),
        "netops/guides/bgp.guide.yaml": guide("bgp", "先查 L1，再查 BGP。", agent="netops", keyword="BGP"),
        "netops/formats/report.format.yaml": FORMAT.format(tag="report"),
        "README.md": "Validated by the carrier team.\n",
    }
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8")
    if agents:
        skill_folder(place / "agents" / "analyzer")
    return place


def rows(memory: Memory) -> list[tuple[str, str, str]]:
    return sorted((row.id, row.scope, row.text) for row in memory.list())


def state(memory: Memory) -> tuple[Any, ...]:
    home = memory.workspace.bundles_directory
    files = {str(path): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}
    return rows(memory), files


def rewrite(path: Path, change: dict[str, bytes | None], target: Path) -> Path:
    """Copy a zip with other contents of some entries; None leaves one out."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        names = dict.fromkeys([*old.namelist(), *change])
        for name in names:
            content = change[name] if name in change else old.read(name)
            if content is not None:
                new.writestr(name, content)
    return target


@pytest.fixture
def built(memory: Memory, tmp_path: Path) -> Path:
    return build_bundle(memory, source(tmp_path / "src"), tmp_path / "telecom.zip")[0]


def test_equal_folders_make_equal_zips_and_nothing_is_written_to_the_store(
    memory: Memory, tmp_path: Path, built: Path
) -> None:
    shutil.copytree(tmp_path / "src", tmp_path / "copy")
    path, manifest = build_bundle(memory, tmp_path / "copy", tmp_path / "again.zip")
    assert path.read_bytes() == built.read_bytes()
    assert (manifest.name, manifest.version, len(manifest.files)) == ("telecom", "1.0.0", 11)
    assert memory.list() == []
    found = verify_bundle(built)
    assert (found.digest, found.differences) == (manifest.digest, ())


def test_it_installs_every_part_in_its_scope(memory: Memory, built: Path) -> None:
    found, report = install_bundle(memory, built)
    assert (found.name, report.added) == ("telecom", 6)
    scopes = sorted((row.scope, row.category) for row in memory.list())
    assert scopes == [
        ("analyzer", "format_guide"),
        ("analyzer", "usage_guide"),
        ("analyzer", "usage_guide"),
        ("global", "usage_guide"),
        ("netops", "format_guide"),
        ("netops", "usage_guide"),
    ]
    (agent,) = list_agents(memory.workspace)
    assert (agent.name, agent.bundle) == ("analyzer", "telecom")
    assert agent_folder(memory.workspace, "analyzer") == Path(agent.folder)
    assert memory.recall("BGP", agent="netops").items
    (listed,) = list_bundles(memory.workspace)
    assert listed == found
    before = rows(memory)
    assert memory.import_guides(memory.workspace.root).retired == 0
    assert rows(memory) == before


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"core/guides/ask.guide.yaml": b"evil"}, "changed: core/guides/ask.guide.yaml"),
        ({"README.md": None}, "missing: README.md"),
        ({"core/guides/evil.guide.yaml": b"evil"}, "not in the manifest: core/guides/evil.guide.yaml"),
    ],
)
def test_tampering_is_told_and_refused(
    memory: Memory, tmp_path: Path, built: Path, change: dict[str, bytes | None], line: str
) -> None:
    bad = rewrite(built, change, tmp_path / "bad.zip")
    (difference,) = verify_bundle(bad).differences
    assert difference == line
    with pytest.raises(PackageError, match="not as its manifest says"):
        install_bundle(memory, bad)
    assert state(memory) == ([], {})


def test_a_manifest_written_anew_is_caught_by_the_digest(memory: Memory, tmp_path: Path, built: Path) -> None:
    digest = verify_bundle(built).digest
    evil = build_bundle(memory, source(tmp_path / "evil", rule="Never ask."), tmp_path / "evil.zip")[0]
    assert verify_bundle(evil).differences == ()
    with pytest.raises(PackageError, match="digest"):
        install_bundle(memory, evil, sha256=digest)
    assert memory.list() == []
    assert install_bundle(memory, built, sha256=digest.upper())[1].added == 6


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "no JSON"),
        (b'{"format": 2}', "format 2"),
        (b"[]", "format None"),
        (b'{"format": 1, "name": "../x", "version": "1", "files": {}}', "must be letters"),
        (b'{"format": 1, "name": "x", "version": "1; rm", "files": {}}', "numbers with dots"),
        (
            b'{"format": 1, "name": "x", "version": "1", "files": {"../a": "' + b"0" * 64 + b'"}}',
            "no bundle's",
        ),
        (b'{"format": 1, "name": "x", "version": "1", "files": {}, "run": "me"}', "no bundle's"),
        (b'{"format": 1, "files": {}}', "no bundle's"),
        (b'{"format": 1, "name": "x", "files": {}}', "no bundle's"),
        (b'{"format": 1, "name": "x", "version": null, "files": {}}', "no bundle's"),
        (b'{"format": 1, "name": "x", "version": "1", "files": {}, "description": "\\ud800"}', "no JSON"),
        (None, "no manifest.json"),
    ],
)
def test_a_manifest_that_is_none(
    memory: Memory, tmp_path: Path, built: Path, content: bytes | None, message: str
) -> None:
    bad = rewrite(built, {"manifest.json": content}, tmp_path / "bad.zip")
    with pytest.raises(PackageError, match=message):
        install_bundle(memory, bad)
    with pytest.raises(PackageError, match=message):
        verify_bundle(bad)


def test_a_newer_version_takes_the_place_and_an_older_one_needs_a_word(
    memory: Memory, tmp_path: Path, built: Path
) -> None:
    install_bundle(memory, built)
    newer = source(tmp_path / "newer", version="1.10", rule="Ask once.", agents=False)
    (newer / "netops" / "formats" / "report.format.yaml").unlink()
    path = build_bundle(memory, newer, tmp_path / "newer.zip")[0]
    _, report = install_bundle(memory, path)
    assert (report.changed, report.retired, report.unchanged) == (1, 4, 1)
    assert list_agents(memory.workspace) == []
    before = state(memory)
    with pytest.raises(PackageError, match=r"1\.10 is installed, 1\.0\.0 is older"):
        install_bundle(memory, built)
    assert state(memory) == before
    install_bundle(memory, built, allow_downgrade=True)
    assert list_bundles(memory.workspace)[0].version == "1.0.0"


def test_other_contents_under_one_version(memory: Memory, tmp_path: Path, built: Path) -> None:
    install_bundle(memory, built)
    assert install_bundle(memory, built)[1].unchanged == 6
    other = build_bundle(memory, source(tmp_path / "other", rule="Other."), tmp_path / "other.zip")[0]
    with pytest.raises(PackageError, match="with other contents"):
        install_bundle(memory, other)
    install_bundle(memory, other, allow_downgrade=True)


def test_remove_forgets_exactly_what_it_brought(memory: Memory, tmp_path: Path, built: Path) -> None:
    memory.remember("ours", scope="netops")
    install_agent(memory, skill_folder(tmp_path / "own", name="own"))
    before = rows(memory)
    install_bundle(memory, built)
    with pytest.raises(PackageError, match="belongs to the bundle 'telecom'"):
        remove_agent(memory, "analyzer")
    assert remove_bundle(memory, "telecom") == 6
    assert rows(memory) == before
    with pytest.raises(PackageError, match="not installed"):
        remove_bundle(memory, "telecom")
    with pytest.raises(PackageError, match="must be letters"):
        remove_bundle(memory, "../agents/own")


def test_an_agent_comes_from_one_place_only(memory: Memory, tmp_path: Path, built: Path) -> None:
    install_agent(memory, skill_folder(tmp_path / "a"))
    with pytest.raises(PackageError, match="installed already, by `olav agent install`"):
        install_bundle(memory, built)
    remove_agent(memory, "analyzer")
    install_bundle(memory, built)
    with pytest.raises(PackageError, match="by the bundle 'telecom'"):
        install_agent(memory, skill_folder(tmp_path / "b"))


def test_a_change_by_hand_is_told(memory: Memory, built: Path) -> None:
    install_bundle(memory, built)
    place = memory.workspace.bundles_directory / "telecom" / "core" / "guides" / "ask.guide.yaml"
    place.write_text("changed", encoding="utf-8")
    (found,) = list_bundles(memory.workspace)
    assert found.differences == ("changed: core/guides/ask.guide.yaml",)


@pytest.mark.parametrize(
    ("path", "text", "error"),
    [
        ("bundle.yaml", "name: x\nversion: 1.0\n", PackageError),
        ("bundle.yaml", "name: x\n", PackageError),
        ("bundle.yaml", "name: x\nversion: '1'\nrun: me\n", PackageError),
        ("bundle.yaml", "[" * 5_000, PackageError),
        ("core/guides/bad.guide.yaml", "schema_version: 1\n", ImportFaultsError),
        ("agents/other/SKILL.md", "---\nname: elsewhere\n---\n", PackageError),
        ("agents/other/notes.md", "no skill", PackageError),
    ],
)
def test_what_cannot_be_installed_is_not_built(
    memory: Memory, tmp_path: Path, path: str, text: str, error: type[Exception]
) -> None:
    folder = source(tmp_path / "src")
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8")
    with pytest.raises(error):
        build_bundle(memory, folder, tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()
    assert not list(tmp_path.glob(".x.zip*"))


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=4), st.lists(st.integers(0, 50), min_size=1, max_size=4)
)
def test_versions_compare_by_number(one: list[int], other: list[int]) -> None:
    def padded(numbers: list[int]) -> list[int]:
        return numbers + [0] * (4 - len(numbers))

    keys = version_key(".".join(map(str, one))), version_key(".".join(map(str, other)))
    assert (keys[0] < keys[1]) == (padded(one) < padded(other))
    assert (keys[0] == keys[1]) == (padded(one) == padded(other))


def test_the_command_line(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = str(memory.workspace.root)
    source(tmp_path / "src")

    def olav(*args: str, code: int = 0) -> Any:
        result = CliRunner().invoke(main, ["bundle", *args, "-w", root, "--json"], prog_name="olav")
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return json.loads(result.stdout)

    made = olav("build", "src")
    assert made["path"] == "telecom-1.0.0.olav-bundle.zip"
    assert olav("verify", made["path"])["sound"] is True
    assert olav("install", made["path"], "--sha256", made["digest"])["import"]["added"] == 6
    assert olav("verify", "telecom")["digest"] == made["digest"]
    assert [each["name"] for each in olav("list")["bundles"]] == ["telecom"]
    with zipfile.ZipFile(made["path"], "a") as archive:
        archive.writestr("core/guides/more.guide.yaml", "x")
    assert olav("verify", made["path"], code=1)["differences"] == [
        "not in the manifest: core/guides/more.guide.yaml"
    ]
    assert olav("install", made["path"], code=1)["error"]["type"] == "PackageError"
    assert olav("remove", "telecom") == {"name": "telecom", "removed": 6}
    with olav_core.open(root) as again:
        assert again.list() == []


def test_a_folder_that_is_no_bundle_leaves_the_others_listed(memory: Memory, built: Path) -> None:
    install_bundle(memory, built)
    home = memory.workspace.bundles_directory
    for name, manifest in (("stray", None), ("damaged", "{"), (".git", None)):
        (home / name).mkdir()
        if manifest:
            (home / name / "manifest.json").write_text(manifest, encoding="utf-8")
    damaged, stray, sound = list_bundles(memory.workspace)
    assert (damaged.name, stray.name, sound.name) == ("damaged", "stray", "telecom")
    assert "no JSON" in damaged.fault
    assert "has no manifest.json" in stray.fault
    assert [each.to_dict()["sound"] for each in (damaged, stray, sound)] == [False, False, True]
    done = CliRunner().invoke(main, ["bundle", "list", "--workspace", str(memory.workspace.root)])
    assert done.exit_code == 0
    assert "stray" in done.output
    assert "Rules for carriers" in done.output
