"""Zips of strangers: traversal, links and bombs are refused whole."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from package_files import skill_folder, zipped

from olav_core import Memory, PackageError
from olav_core.packages import archive
from olav_core.packages.agents import install_agent


def pack(target: Path, entries: list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("SKILL.md", "---\nname: a\n---\n")
        for name, content in entries:
            made.writestr(name, content)
    return target


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.create_system = 3
    return info


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../evil.md", "leads out"),
        ("guides/../../evil.md", "leads out"),
        ("/etc/evil.md", "absolute"),
        ("C:/evil.md", "absolute"),
        ("..\\evil.md", "backslash"),
        ("\\\\host\\evil.md", "absolute"),
        ("a//b.md", "empty part"),
        ("./a.md", "empty part"),
        ("a /b.md", "blanks"),
        ("a\nb.md", "control character"),
        ("a\u202eb.md", "control character"),
        ("/".join("abcdefghijklmnop"), "deeper"),
        ("x" * 300 + ".md", "255 bytes"),
    ],
)
def test_a_name_that_leaves_the_folder(memory: Memory, tmp_path: Path, name: str, message: str) -> None:
    source = pack(tmp_path / "a.zip", [(name, b"evil")])
    with pytest.raises(PackageError, match=message):
        install_agent(memory, source)
    assert not (memory.workspace.agents_directory).exists()
    assert not list(tmp_path.rglob("evil*"))


def test_a_name_that_holds_a_nul(memory: Memory, tmp_path: Path) -> None:
    source = pack(tmp_path / "a.zip", [("guides/aXb.md", b"evil")])
    source.write_bytes(source.read_bytes().replace(b"aXb.md", b"a\x00b.md"))
    with pytest.raises(PackageError, match=r"control character|damaged"):
        install_agent(memory, source)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices(memory: Memory, tmp_path: Path, kind: int) -> None:
    source = pack(tmp_path / "a.zip", [(entry("link.md", kind | 0o777), b"/etc/passwd")])
    with pytest.raises(PackageError, match=r"a link|no plain file"):
        install_agent(memory, source)


def test_a_file_that_unpacks_to_far_more(memory: Memory, tmp_path: Path) -> None:
    source = pack(tmp_path / "a.zip", [("big.md", b"0" * 5_000_000)])
    with pytest.raises(PackageError, match="times its size"):
        install_agent(memory, source)


def test_too_many_files_and_too_much(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = pack(tmp_path / "many.zip", [(f"f{n}.md", b"x") for n in range(archive.MAX_FILES + 1)])
    with pytest.raises(PackageError, match="more than 2,000 files"):
        install_agent(memory, many)
    monkeypatch.setattr(archive, "MAX_BYTES", 10_000)
    noise = bytes(range(256)) * 50
    with pytest.raises(PackageError, match="bytes unpacked"):
        install_agent(memory, pack(tmp_path / "much.zip", [("noise.bin", noise)]))
    folder = skill_folder(tmp_path / "folder")
    (folder / "noise.bin").write_bytes(noise)
    with pytest.raises(PackageError, match="bytes unpacked"):
        install_agent(memory, folder)


def test_a_declared_size_that_lies(memory: Memory, tmp_path: Path) -> None:
    source = pack(tmp_path / "a.zip", [("lie.md", b"y" * 4_000)])
    raw = source.read_bytes()
    size = (4_000).to_bytes(4, "little")
    source.write_bytes(raw.replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(PackageError):
        install_agent(memory, source)
    assert memory.list() == []


def test_the_same_name_twice_in_other_letters(memory: Memory, tmp_path: Path) -> None:
    source = pack(tmp_path / "a.zip", [("Guide.md", b"1"), ("guide.md", b"2")])
    with pytest.raises(PackageError, match="comes twice"):
        install_agent(memory, source)


def test_a_file_where_a_folder_is(memory: Memory, tmp_path: Path) -> None:
    source = pack(tmp_path / "a.zip", [("a", b"1"), ("a/b.md", b"2")])
    with pytest.raises(PackageError, match="file and a folder"):
        install_agent(memory, source)


def test_what_is_no_zip(memory: Memory, tmp_path: Path) -> None:
    text = tmp_path / "a.zip"
    text.write_text("not a zip")
    with pytest.raises(PackageError, match="neither a folder nor a zip"):
        install_agent(memory, text)
    cut = zipped(skill_folder(tmp_path / "s"), tmp_path / "cut.zip")
    raw = cut.read_bytes()
    cut.write_bytes(raw[:60] + b"\xff" * 200 + raw[260:])
    with pytest.raises(PackageError, match=r"damaged zip|cannot be read"):
        install_agent(memory, cut)
    with pytest.raises(PackageError, match="There is no folder or zip"):
        install_agent(memory, tmp_path / "nothing.zip")


def test_hidden_files_and_mac_rubbish_stay_out(memory: Memory, tmp_path: Path) -> None:
    source = pack(
        tmp_path / "a.zip", [(".git/config", b"x"), ("__MACOSX/._SKILL.md", b"x"), ("notes.md", b"x")]
    )
    install_agent(memory, source)
    place = memory.workspace.agents_directory / "a"
    assert sorted(path.name for path in place.iterdir()) == [".olav-agent.json", "SKILL.md", "notes.md"]


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("ab./\\ \x00:C~\n网"), min_size=1, max_size=12))
def test_a_sound_name_stays_in_its_folder(name: str) -> None:
    if not archive.name_fault(name):
        assert Path("/base", name).resolve().is_relative_to("/base")
        assert Path("/base", name).resolve() != Path("/base")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_never_read(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "pipe" if kind == "pipe" else Path("/dev/zero")
    if kind == "pipe":
        os.mkfifo(source)
    with pytest.raises(PackageError, match="neither a folder nor a zip"):
        archive.unpack(source, tmp_path / "target")
