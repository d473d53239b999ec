"""`ensemble` and `use`: two spaces as one, and a model with its tokenizer in the graph."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import olav_ensemble
import olav_hashing
import olav_use
import pytest
from tiny_string_model import BIAS, TABLE, write_tiny_string_model

import olav_core
from olav_core import ConfigError, EmbedderUnavailableError, EmbeddingSpaceMismatchError, UnknownIdError

PARTS = [{"id": "hashing"}, {"id": "hashing", "weight": 0.5, "options": {"dimension": 64}}]
TEXTS = ["Router R1 is in Shanghai", "上海的路由器 R1", "cake"]


def ensemble(parts=PARTS):
    return olav_ensemble.EnsembleEmbedder({"parts": parts})


def test_the_cosine_is_the_weighted_mean_of_the_models_cosines() -> None:
    joined = ensemble().embed_passages(TEXTS)
    one, two = (olav_hashing.make(options).embed_passages(TEXTS) for options in ({}, {"dimension": 64}))
    assert joined.shape == (3, 256 + 64)
    assert joined.dtype == np.float32
    assert joined @ joined.T == pytest.approx((one @ one.T + 0.25 * two @ two.T) / 1.25, abs=1e-5)
    assert np.linalg.norm(joined, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_its_identity_is_that_of_all_parts_and_weights() -> None:
    lighter = [PARTS[0], {**PARTS[1], "weight": 0.4}]
    other = [PARTS[0], {"id": "hashing", "weight": 0.5, "options": {"dimension": 128}}]
    revisions = {ensemble(parts).identity.revision for parts in (PARTS, lighter, other)}
    assert len(revisions) == 3
    assert ensemble().identity == ensemble().identity


def test_token_vectors_are_those_of_the_first_model_that_has_any() -> None:
    parts = [PARTS[0], {"id": "hashing", "options": {"dimension": 64, "tokens": 32}}]
    assert ensemble(parts).token_vectors(["one two"])[0].shape == (2, 32)
    for both in (ensemble(parts).embed_queries_with_tokens, ensemble(parts).embed_passages_with_tokens):
        vectors, tokens = both(["one two", ""])
        assert vectors == pytest.approx(ensemble(parts).embed_passages(["one two", ""]))
        assert [each.shape for each in tokens] == [(2, 32), (0, 32)]
    with pytest.raises(ConfigError, match="none of hashing, hashing has token vectors"):
        ensemble().embed_queries_with_tokens(["one two"])


def test_an_embedder_of_the_workspaces_plug_ins_may_be_a_part(tmp_path: Path) -> None:
    plugins = tmp_path / ".olav" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "house.py").write_text(
        "from olav_core import EmbedderSpec, hookimpl\n\n\n"
        "def make(options):\n    import olav_hashing\n\n    return olav_hashing.make({'dimension': 32})\n\n\n"
        "@hookimpl\ndef olav_register_embedders():\n"
        "    return [EmbedderSpec(id='house', title='House', factory=make)]\n",
        "utf-8",
    )
    parts = [{"id": "hashing"}, {"id": "house", "weight": 0.5}]
    with olav_core.init(tmp_path, embedder="ensemble", options={"parts": parts}) as memory:
        memory.remember("R1 在上海")
    with olav_core.open(tmp_path) as memory:
        assert memory.recall("R1", tier="large").items
        assert json.loads(memory.store.fingerprint)["dimension"] == 256 + 32
    parts[1]["id"] = "huose"
    with (
        olav_core.open(tmp_path) as memory,
        pytest.raises(UnknownIdError, match="Did you mean 'house'"),
    ):
        memory.reembed("ensemble", {"parts": parts})


def test_a_store_of_other_weights_is_refused(tmp_path: Path) -> None:
    with olav_core.init(tmp_path, embedder="ensemble", options={"parts": PARTS}) as memory:
        memory.remember("R1 在上海")
        assert memory.recall("R1", tier="large").items
    path = tmp_path / ".olav" / "config.yaml"
    path.write_text(path.read_text("utf-8").replace("weight: 0.5", "weight: 0.9"), "utf-8")
    with olav_core.open(tmp_path) as memory, pytest.raises(EmbeddingSpaceMismatchError):
        memory.recall("R1")


@pytest.mark.parametrize(
    "parts",
    [[], [{"id": "hashing"}], "e5", [{"name": "e5"}, {"id": "use"}], [{"id": "ensemble"}, {"id": "e5"}],
     [{"id": "e5"}, {"id": "use", "weight": 0}], [{"id": "e5"}, {"id": "use", "weight": "1"}], 3],
)  # fmt: skip
def test_wrong_parts_are_refused_with_an_example(parts: object) -> None:
    with pytest.raises(ConfigError, match="ensemble"):
        ensemble(parts)


def test_a_model_that_takes_strings_is_run_as_it_is(tmp_path: Path) -> None:
    embedder = olav_use.UseEmbedder({"path": write_tiny_string_model(tmp_path / "model.onnx")})
    found = embedder.embed_passages(["alpha beta", "", "gamma"])
    raw = np.vstack([TABLE[0] + TABLE[1], np.zeros(8, np.float32), TABLE[2]]) + BIAS
    assert found == pytest.approx(raw / np.linalg.norm(raw, axis=1, keepdims=True), abs=1e-5)
    assert embedder.embed_queries([]).shape[0] == 0


def test_a_missing_or_damaged_model_names_the_mend(tmp_path: Path) -> None:
    missing = olav_use.UseEmbedder({"path": str(tmp_path / "none.onnx")})
    with pytest.raises(EmbedderUnavailableError, match="pip install"):
        missing.embed_queries(["x"])
    (tmp_path / "cut.onnx").write_bytes(b"cut")
    with pytest.raises(EmbedderUnavailableError, match="cannot be loaded"):
        olav_use.UseEmbedder({"path": str(tmp_path / "cut.onnx")}).embed_queries(["x"])
    with pytest.raises(ConfigError):
        olav_use.UseEmbedder({"path": 7})
