"""Files written in one step: what readers see, what a kill and a full disk leave, modes, links, races."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olav_core import write_atomically
from olav_core.atomic_write import replacing

WRITES_FOR_EVER = """
import sys
from pathlib import Path
from olav_core import write_atomically
path, turn = Path(sys.argv[1]), 0
while True:
    turn += 1
    write_atomically(path, bytes([65 + turn % 26]) * 300_000)
    print(turn, flush=True)
"""

STOPS_HALFWAY = """
import sys
from pathlib import Path
from olav_core.atomic_write import replacing
with replacing(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("halfway", flush=True)
    sys.stdin.read()
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def running(source: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", source, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


@given(before=st.none() | st.binary(), content=st.binary() | st.text(), name=st.text(min_size=1, max_size=84))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_file_holds_what_was_written_and_nothing_else_is_left(
    tmp_path_factory: pytest.TempPathFactory, before: bytes | None, content: bytes | str, name: str
) -> None:
    folder = tmp_path_factory.mktemp("written")
    name = "".join(letter for letter in name if letter not in "/\0" and not "\ud800" <= letter <= "\udfff")
    path = folder / f"值{name}"[:84]
    if len(os.fsencode(path.name)) > 255:
        path = folder / path.name[:60]
    if before is not None:
        path.write_bytes(before)
    try:
        raw = content if isinstance(content, bytes) else content.encode()
    except UnicodeEncodeError:
        with pytest.raises(UnicodeEncodeError):
            write_atomically(path, content)
        assert [each.read_bytes() for each in folder.iterdir()] == ([] if before is None else [before])
        return
    write_atomically(path, content)
    assert [each.name for each in folder.iterdir()] == [path.name]
    assert path.read_bytes() == raw


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    for name in ("入" * 85, "a" * 255):
        write_atomically(tmp_path / name, "1")
        assert (tmp_path / name).read_text() == "1"


def test_the_mode_of_a_replaced_file_stays_unless_another_is_asked_for(tmp_path: Path) -> None:
    kept, private, plain = tmp_path / "kept", tmp_path / "private", tmp_path / "plain"
    for path in (kept, private):
        path.write_text("old")
        path.chmod(0o644)
    before = os.umask(0o027)
    try:
        write_atomically(kept, "new")
        write_atomically(private, "new", mode=0o600)
        write_atomically(plain, "new")
    finally:
        os.umask(before)
    assert (mode(kept), mode(private), mode(plain)) == (0o644, 0o600, 0o640)


def test_an_exception_in_the_block_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("old")

    def write() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        for content in (b"x" * 2000, b"x" * 2_000_000):  # fails when it is flushed, and while it is written
            with pytest.raises(OSError, match="File too large"):
                write_atomically(path, content)
            assert path.read_text() == "old"
            assert list(tmp_path.iterdir()) == [path]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_last_step_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_content_is_on_disk_before_the_name_and_the_name_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def noted(name: str, step: Callable[..., None]) -> None:
        def wrapper(*arguments: object) -> None:
            steps.append(name)
            step(*arguments)

        monkeypatch.setattr(os, name, wrapper)

    noted("fsync", os.fsync)
    noted("replace", os.replace)
    write_atomically(tmp_path / "file", "content")
    assert steps == ["fsync", "replace", "fsync"]


def test_a_process_killed_halfway_leaves_the_old_file_and_the_next_write_works(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("old")
    with running(STOPS_HALFWAY, path) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "halfway\n"
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert path.read_text() == "old"
    (left,) = set(tmp_path.iterdir()) - {path}
    assert left.name.startswith(".config.yaml.")
    assert left.suffix == ".new"
    write_atomically(path, "new")
    assert path.read_text() == "new"


def test_readers_of_a_file_that_is_rewritten_and_killed_see_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for turns in (3, 7, 12):
        with running(WRITES_FOR_EVER, path) as child:
            assert child.stdout is not None
            for _ in range(turns):
                child.stdout.readline()
                raw = path.read_bytes()
                assert len(raw) == 300_000
                assert len(set(raw)) == 1
            child.send_signal(signal.SIGKILL)
            child.wait()
        raw = path.read_bytes()
        assert len(raw) == 300_000
        assert len(set(raw)) == 1


def _make(path: str, content: str) -> bool:
    try:
        write_atomically(Path(path), content, exclusive=True)
    except FileExistsError:
        return False
    return True


def test_of_several_processes_that_make_one_file_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with get_context("spawn").Pool(3) as pool:
        made = pool.starmap(_make, [(str(path), str(n)) for n in range(12)])
    assert made.count(True) == 1
    assert path.read_text() == str(made.index(True))
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_system_without_hard_links_still_makes_a_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "key"
    assert _make(str(path), "first")
    assert not _make(str(path), "second")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_what_it_names_stays(tmp_path: Path) -> None:
    there, link, dangling = tmp_path / "there", tmp_path / "link", tmp_path / "dangling"
    there.write_text("old")
    link.symlink_to(there)
    dangling.symlink_to(tmp_path / "nowhere")
    for path in (link, dangling):
        write_atomically(path, "new")
        assert not path.is_symlink()
        assert path.read_text() == "new"
    assert there.read_text() == "old"
    assert not (tmp_path / "nowhere").exists()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", Path(os.devnull)):
        for mode in (None, 0o600):
            with pytest.raises(OSError, match=r"not a regular file|Is a directory"):
                write_atomically(path, "new", mode=mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "file", "new")
