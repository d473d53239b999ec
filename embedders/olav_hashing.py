"""Embedder `hashing`: feature hashing of words and CJK bigrams. For tests: no model, no meaning."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from olav_core import ConfigError, EmbedderSpec, ModelIdentity, Options, hookimpl

if TYPE_CHECKING:
    from olav_core import FloatArray

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_HAS_CJK = re.compile(f"[{_CJK}]")
_TERM = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")


class HashingEmbedder:
    """Texts that share terms are close: each term adds 1 + log(count) with a hashed sign to two hashed
    places. The same on every machine and in every process. Option `tokens`: it has token vectors
    of that many dimensions, one per term; without it, it stands for an embedder that has none."""

    def __init__(self, *, dimension: int = 256, tokens: int = 0) -> None:
        if not isinstance(dimension, int) or not 8 <= dimension <= 8192:
            raise ConfigError(
                f"embedder 'hashing': dimension is {dimension!r}. Give an integer of 8 to 8192."
            )
        self.dimension = dimension
        if tokens:
            self._terms = HashingEmbedder(dimension=tokens)
            self.token_vectors = self._token_vectors
            self.embed_queries_with_tokens = self.embed_passages_with_tokens = self._with_tokens
        self.identity = ModelIdentity(name="hashing", revision=f"1:{dimension}", pooling="sum")

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self.embed_passages(texts)

    def _token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[FloatArray]:
        """Return one vector per term of each text."""
        import numpy as np

        del query
        empty = np.zeros((0, self._terms.dimension), np.float32)
        found = [list(_terms(text)) for text in texts]
        return [self._terms.embed_passages(terms) if terms else empty for terms in found]

    def _with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        return self.embed_passages(texts), self._token_vectors(texts)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for term, count in Counter(_terms(text)).items():
                digest = int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "big")
                for half in (digest & 0xFFFFFFFF, digest >> 32):
                    vector[(half >> 1) % self.dimension] += (1 if half & 1 else -1) * (1 + np.log(count))
            if not vector.any():
                # Only punctuation or emoji, or terms that cancel out: the text as a whole is the term.
                vector[zlib.crc32(text.encode("utf-8", "replace")) % self.dimension] = 1
        unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def _terms(text: str) -> Iterator[str]:
    for run in _TERM.findall(unicodedata.normalize("NFKC", text).casefold()):
        if len(run) > 1 and _HAS_CJK.match(run):
            yield from (run[i : i + 2] for i in range(len(run) - 1))
        else:
            yield run


def make(options: Options) -> HashingEmbedder:
    arguments: dict[str, Any] = dict(options)
    return HashingEmbedder(**arguments)


@hookimpl
def olav_register_embedders() -> list[EmbedderSpec]:
    return [
        EmbedderSpec(
            id="hashing",
            title="Feature hashing, for tests: shared words only, no meaning",
            factory=make,
        )
    ]
