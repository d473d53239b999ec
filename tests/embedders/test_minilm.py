from __future__ import annotations

from pathlib import Path

import olav_minilm
import pytest

from olav_core import EmbedderUnavailableError


def test_close_texts_are_close() -> None:
    embedder = olav_minilm.make({})
    near, far, query = embedder.embed_queries(
        ["Save the router's configuration first.", "Lunch was noodles.", "how to back up a router config"]
    )
    assert query @ near > query @ far + 0.3


def test_a_text_longer_than_the_window_counts_to_its_end() -> None:
    embedder = olav_minilm.make({})
    filler = "The meeting went through the agenda point by point. " * 60
    query = embedder.embed_queries(["how often are passwords rotated?"])[0]
    plain, with_fact = embedder.embed_passages([filler, filler + "Passwords are rotated every 90 days."])
    assert query @ with_fact > query @ plain


def test_a_missing_package_and_a_cut_model_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "half_a_model"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(olav_minilm, "PACKAGE", "half_a_model")
    with pytest.raises(EmbedderUnavailableError, match=r"half_a_model.*pip install"):
        olav_minilm.make({}).embed_queries(["x"])
    (package / "model.onnx").write_bytes(b"cut")
    with pytest.raises(EmbedderUnavailableError, match=r"model\.onnx has sha256.*--force-reinstall"):
        olav_minilm.make({}).embed_queries(["x"])
