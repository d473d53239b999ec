from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import olav_onnx
import pytest
from tiny_model import states, unit, write_tiny_model

import olav_core
from olav_core import ConfigError, EmbedderUnavailableError


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write_tiny_model(tmp_path / "house-model")


def write(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def sentence_transformers(directory: Path, **pooling: bool) -> None:
    write(
        directory / "modules.json",
        [
            {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
    )
    modes = {"cls_token": False, "mean_tokens": False, "max_tokens": False, "lasttoken": False, **pooling}
    config = {f"pooling_mode_{name}": on for name, on in modes.items()}
    write(
        directory / "1_Pooling" / "config.json",
        {"word_embedding_dimension": 6, "include_prompt": True, **config},
    )
    write(directory / "sentence_bert_config.json", {"max_seq_length": 16, "do_lower_case": False})
    write(directory / "config_sentence_transformers.json", {"prompts": {"query": "query: ", "document": ""}})


def test_a_bare_directory_is_mean_pooled_without_prefixes(directory: Path) -> None:
    embedder = olav_onnx.make({"path": str(directory)})
    np.testing.assert_allclose(
        embedder.embed_queries(["alpha beta"])[0], unit(states("alpha beta").mean(axis=0)), rtol=1e-5
    )
    identity = embedder.identity
    assert (identity.name, identity.pooling, identity.max_tokens) == ("house-model", "mean", 512)
    assert identity.revision == hashlib.sha256((directory / "model.onnx").read_bytes()).hexdigest()


def test_side_files_are_followed(directory: Path) -> None:
    sentence_transformers(directory, cls_token=True)
    embedder = olav_onnx.make({"path": str(directory)})
    identity = embedder.identity
    assert (identity.pooling, identity.max_tokens, identity.query_prefix) == ("cls", 16, "query: ")
    np.testing.assert_allclose(embedder.embed_passages(["beta"])[0], unit(states("beta")[0]), rtol=1e-5)
    assert len(embedder.token_vectors(["beta gamma"], query=True)[0]) == 2


def test_explicit_options_win(directory: Path) -> None:
    sentence_transformers(directory, cls_token=True)
    embedder = olav_onnx.make(
        {"path": str(directory), "pooling": "last", "normalize": False, "query_prefix": "", "max_tokens": 32}
    )
    np.testing.assert_allclose(embedder.embed_queries(["alpha"])[0], states("alpha")[-1], rtol=1e-5)
    assert embedder.identity.max_tokens == 32
    assert embedder.identity.normalize is False


def test_a_model_in_the_onnx_folder_that_pools_itself(directory: Path) -> None:
    write_tiny_model(directory, pooled=True)
    (directory / "onnx").mkdir()
    (directory / "model.onnx").rename(directory / "onnx" / "model.onnx")
    embedder = olav_onnx.make({"path": str(directory)})
    assert embedder.identity.pooling == "model"
    assert embedder.embed_passages(["alpha"]).shape == (1, 6)


def test_what_an_encoder_does_not_do_is_refused(directory: Path) -> None:
    sentence_transformers(directory, mean_tokens=True, max_tokens=True)
    with pytest.raises(ConfigError, match="mean_tokens"):
        olav_onnx.make({"path": str(directory)}).embed_queries(["alpha"])
    write(directory / "modules.json", [{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])
    with pytest.raises(ConfigError, match="Dense"):
        olav_onnx.make({"path": str(directory)}).embed_queries(["alpha"])
    assert olav_onnx.make({"path": str(directory), "pooling": "mean"}).embed_queries(["alpha"]).shape == (
        1,
        6,
    )


def test_missing_and_damaged_files_are_named(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="path"):
        olav_onnx.make({})
    with pytest.raises(EmbedderUnavailableError, match=r"no model\.onnx in .*nowhere"):
        olav_onnx.make({"path": str(tmp_path / "nowhere")}).embed_queries(["alpha"])
    (directory / "modules.json").write_text("{")
    with pytest.raises(EmbedderUnavailableError, match=r"modules\.json"):
        olav_onnx.make({"path": str(directory)}).embed_queries(["alpha"])


def test_a_relative_path_starts_at_the_workspace(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "ws"
    shutil.copytree(directory, root / "models" / "house")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    options = {"path": "models/house", "pooling": "mean"}
    with olav_core.init(root, embedder="onnx", options=options) as memory:
        memory.remember("R1 is in rack 7")
    assert "path: models/house" in (root / ".olav" / "config.yaml").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    with olav_core.open(root) as memory:
        assert memory.recall("R1 rack", tier="large").degraded == ()
        part = {"id": "onnx", "options": options}
        memory.reembed("ensemble", {"parts": [part, {"id": "hashing"}]})
        assert memory.recall("R1 rack", tier="large").degraded == ()
    with pytest.raises(EmbedderUnavailableError, match="elsewhere"):
        olav_core.init(elsewhere, embedder="onnx", options=options)


@pytest.mark.parametrize(
    ("name", "meant"), [("poolin", "Did you mean 'pooling'?"), ("池化", "It takes path,")]
)
def test_an_unknown_option_names_the_known_ones(directory: Path, name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"has no option '{name}'") as refused:
        olav_onnx.make({"path": str(directory), name: "mean"})
    assert meant in str(refused.value)
    assert "max_tokens" in str(refused.value)


def test_weights_kept_beside_the_graph_are_part_of_the_revision(directory: Path) -> None:
    def revision() -> str:
        return olav_onnx.make({"path": str(directory)}).identity.revision

    before = revision()
    (directory / "model.onnx_data").write_bytes(b"one")
    one = revision()
    (directory / "model.onnx_data").write_bytes(b"two")
    assert len({before, one, revision()}) == 3
