"""`cross_encoder`: a real ONNX model of a few words, made here, through the product's recall."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import olav_cross_encoder
import pytest
from tiny_cross_encoder import write_tiny_cross_encoder

from olav_core import ConfigError, OlavError
from olav_core.config import DEFAULT_RANKERS
from olav_core.testing import make_candidate, make_query, open_workspace

TEXTS = ("cake", "the printer", "restart the router", "路由器 是 router")


def scores(directory: Path, *, classes: int = 1, **options: object) -> list[float]:
    write_tiny_cross_encoder(directory, classes=classes)
    ranker = olav_cross_encoder.CrossEncoder({"path": str(directory), **options})
    return ranker.rerank(make_query("restart 路由器"), [make_candidate(text) for text in TEXTS])


@pytest.mark.parametrize("classes", [1, 2])
def test_the_score_is_the_models_own_padding_left_out(tmp_path: Path, classes: int) -> None:
    found = scores(tmp_path, classes=classes)
    asked = 0.5 + 2.0
    logits = np.array([asked - 3, asked - 1, asked + 1.5, asked + 3])
    assert found == pytest.approx(1 / (1 + np.exp(-logits)), abs=1e-5)


def test_a_long_memory_loses_its_end_not_the_query(tmp_path: Path) -> None:
    write_tiny_cross_encoder(tmp_path)
    ranker = olav_cross_encoder.CrossEncoder({"path": tmp_path, "max_tokens": 8})
    found = ranker.rerank(make_query("router"), [make_candidate("router " * 50)])
    assert found == pytest.approx([1 / (1 + np.exp(-(1 + 4)))])  # [CLS] router [SEP] four of fifty [SEP]
    assert ranker.rerank(make_query("router"), []) == []


def test_it_orders_a_recall(tmp_path: Path) -> None:
    directory = write_tiny_cross_encoder(tmp_path / "model")
    config = {
        "recall": {
            "rankers": [*DEFAULT_RANKERS, "cross_encoder"],
            "ranker_options": {"cross_encoder": {"path": str(directory)}},
        }
    }
    with open_workspace(tmp_path / "space", config=config) as memory:
        for text in TEXTS:
            memory.remember(text)
        recall = memory.recall("which printer? cake", tier="large")
        assert recall.degraded == ()
        ranked = [item.text for item in recall.items]
        assert ranked == sorted(ranked, key=lambda text: -TEXTS.index(text))


@pytest.mark.parametrize("options", [{}, {"path": 3}, {"path": "/nowhere/at/all"}])
def test_wrong_options_are_told_when_the_chain_is_built(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"model\.onnx and tokenizer\.json"):
        olav_cross_encoder.CrossEncoder(options)


def test_a_damaged_model_is_named_and_the_order_kept(tmp_path: Path) -> None:
    write_tiny_cross_encoder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"cut")
    ranker = olav_cross_encoder.CrossEncoder({"path": str(tmp_path)})
    with pytest.raises(OlavError, match="cut or damaged"):
        ranker.rerank(make_query("router"), [make_candidate("router")])
