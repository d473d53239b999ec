"""Embedder `openai`: any OpenAI-style endpoint (`POST {base_url}/embeddings`), Ollama's `/v1` too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, field

from olav_core import (
    ConfigError,
    EmbedderError,
    EmbedderSpec,
    ModelIdentity,
    Options,
    hookimpl,
)
from olav_openai.endpoint import Endpoint

if TYPE_CHECKING:
    from olav_core import FloatArray

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@define(kw_only=True, eq=False)
class OpenAIEmbedder:
    """Asks an endpoint for embeddings, `batch_size` texts a request, up to `retries` more times a request.

    The key is read from the environment variable `api_key_env` at each call (none: no Authorization
    header) and appears in no message. `max_tokens`: longer texts are cut by characters, about 1 token a CJK
    character and 1 per 3 others, and get the mean of their pieces' vectors. `timeout`: seconds a request.

    Raises EmbedderUnavailableError when the endpoint cannot be reached, refuses the key, does not know the
    model or stays busy; EmbedderError when it refuses the input or answers something else.
    """

    base_url: str
    model: str
    api_key_env: str = "OPENAI_API_KEY"
    dimensions: int | None = None
    timeout: float = 30.0
    batch_size: int = 64
    retries: int = 3
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int | None = None
    _endpoint: Endpoint = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.base_url = str(self.base_url).rstrip("/")
        if not self.base_url.startswith(("http://", "https://")):
            raise ConfigError(f"embedder 'openai': base_url {self._url} is no http(s) URL.")
        if self.batch_size < 1 or self.timeout <= 0 or self.retries < 0:
            raise ConfigError(
                "embedder 'openai': batch_size and timeout must be positive, retries not negative."
            )
        self._endpoint = Endpoint(
            base_url=self.base_url,
            name=f"embedder 'openai' ({self.model} at {self._url})",
            api_key_env=self.api_key_env,
            timeout=self.timeout,
            retries=self.retries,
        )

    @property
    def identity(self) -> ModelIdentity:
        wanted = f"@{self.dimensions}" if self.dimensions else ""
        return ModelIdentity(
            name=self.model,
            revision=f"{self.model}{wanted} at {self._url}",
            pooling="remote",
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            max_tokens=self.max_tokens,
        )

    @property
    def _url(self) -> str:
        """The base URL without a user or password in it."""
        return re.sub(r"//[^/@]*@", "//", self.base_url)

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self._embed(texts, self.query_prefix)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return self._embed(texts, self.passage_prefix)

    def _embed(self, texts: Sequence[str], prefix: str) -> FloatArray:
        import numpy as np

        pieces = [(row, prefix + part) for row, text in enumerate(texts) for part in self._cut(text)]
        vectors: list[FloatArray] = []
        body: dict[str, Any] = {"model": self.model}
        if self.dimensions:
            body["dimensions"] = self.dimensions
        for start in range(0, len(pieces), self.batch_size):
            batch = [part for _, part in pieces[start : start + self.batch_size]]
            vectors += self._endpoint.embeddings({**body, "input": batch})
        if len({len(vector) for vector in vectors}) > 1:
            raise EmbedderError(
                f"{self._endpoint.name} gave vectors of different lengths. Check what serves the model."
            )
        total = np.zeros((len(texts), len(vectors[0]) if vectors else 0), np.float32)
        for (row, _), vector in zip(pieces, vectors, strict=True):
            total[row] += vector / max(float(np.linalg.norm(vector)), 1e-12)
        norms = np.linalg.norm(total, axis=1, keepdims=True)
        unit: FloatArray = total / np.maximum(norms, 1e-12)
        return unit

    def _cut(self, text: str) -> list[str]:
        if self.max_tokens is None or len(text) <= self.max_tokens:
            return [text]
        cjk = len(_CJK.findall(text))
        room = max(int(self.max_tokens * len(text) / (cjk + (len(text) - cjk) / 3)), 1)
        count = -(-len(text) // room)
        return [text[len(text) * i // count : len(text) * (i + 1) // count] for i in range(count)]


def make(options: Options) -> OpenAIEmbedder:
    missing = [name for name in ("base_url", "model") if not options.get(name)]
    if missing:
        raise ConfigError(
            f"embedder 'openai' needs {' and '.join(missing)} under `embedder.options` in .olav/config.yaml."
        )
    return OpenAIEmbedder(**options)


@hookimpl
def olav_register_embedders() -> list[EmbedderSpec]:
    return [EmbedderSpec(id="openai", title="Any OpenAI-style endpoint, Ollama too", factory=make)]
