"""Embedder `onnx`: any directory with model.onnx and tokenizer.json, on this machine."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, fields

from olav_core import (
    ConfigError,
    EmbedderSpec,
    EmbedderUnavailableError,
    ModelIdentity,
    OnnxEncoder,
    Options,
    did_you_mean,
    hookimpl,
    place_path,
)
from olav_onnx import side_files

if TYPE_CHECKING:
    from olav_core import FloatArray


@define(kw_only=True, eq=False)
class OnnxEmbedder:
    """Runs the model in `path`. Options that are not given are read from sentence-transformers' side files
    (modules.json, 1_Pooling, sentence_bert_config.json, config_sentence_transformers.json,
    tokenizer_config.json) where these exist; explicit options win.

    Raises EmbedderUnavailableError when a file is missing or damaged, ConfigError for a model that needs
    what an encoder does not do (a dense layer, an unknown pooling).
    """

    path: str
    pooling: Any = None
    normalize: bool = True
    query_prefix: str | None = None
    passage_prefix: str | None = None
    max_tokens: int | None = None
    _ready: tuple[OnnxEncoder, ModelIdentity] | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    @property
    def identity(self) -> ModelIdentity:
        return self._open()[1]

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        encoder, identity = self._open()
        return encoder.encode(texts, prefix=identity.query_prefix)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        encoder, identity = self._open()
        return encoder.encode(texts, prefix=identity.passage_prefix)

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        encoder, identity = self._open()
        return encoder.encode_with_tokens(texts, prefix=identity.query_prefix)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        encoder, identity = self._open()
        return encoder.encode_with_tokens(texts, prefix=identity.passage_prefix)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[FloatArray]:
        encoder, identity = self._open()
        prefix = identity.query_prefix if query else identity.passage_prefix
        return encoder.token_vectors(texts, prefix=prefix)

    def _open(self) -> tuple[OnnxEncoder, ModelIdentity]:
        with self._lock:
            if self._ready is None:
                self._ready = self._build()
            return self._ready

    def _build(self) -> tuple[OnnxEncoder, ModelIdentity]:
        root = Path(self.path).expanduser()
        model = next((p for p in (root / "model.onnx", root / "onnx" / "model.onnx") if p.is_file()), None)
        if model is None:
            raise EmbedderUnavailableError(
                f"there is no model.onnx in {root} or {root / 'onnx'}. "
                "Point `embedder.options.path` in .olav/config.yaml at the model's directory."
            )
        query_prefix, passage_prefix = side_files.prompts(root)
        max_tokens = self.max_tokens or side_files.max_tokens(root)
        encoder = OnnxEncoder(
            model,
            root / "tokenizer.json",
            pooling=self.pooling or side_files.pooling(root),
            normalize=self.normalize,
            max_tokens=max_tokens,
            mend="Copy or export the model into that directory again.",
        )
        identity = ModelIdentity(
            name=root.resolve().name,
            revision=_sha256(model),
            pooling=encoder.pooling,
            normalize=self.normalize,
            query_prefix=query_prefix if self.query_prefix is None else self.query_prefix,
            passage_prefix=passage_prefix if self.passage_prefix is None else self.passage_prefix,
            max_tokens=max_tokens,
        )
        return encoder, identity


def _sha256(model: Path) -> str:
    """Hash the graph, and the weights beside it when the export kept them apart (over 2 GB)."""
    beside = [model.with_name(model.name + suffix) for suffix in ("_data", ".data")]
    digests = []
    for path in (model, *(path for path in beside if path.is_file())):
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def make(options: Options) -> OnnxEmbedder:
    if not isinstance(options.get("path"), (str, os.PathLike)):
        raise ConfigError(
            "embedder 'onnx' needs `path`: the directory that holds model.onnx and tokenizer.json."
        )
    known = [each.name for each in fields(OnnxEmbedder) if each.init]
    for name in options:
        if name not in known:
            raise ConfigError(
                f"embedder 'onnx' has no option {name!r}.{did_you_mean(name, known)} "
                f"It takes {', '.join(known)}."
            )
    return OnnxEmbedder(**options)


@hookimpl
def olav_register_embedders() -> list[EmbedderSpec]:
    return [
        EmbedderSpec(
            id="onnx",
            title="Any ONNX text encoder in a directory, on this machine",
            factory=make,
            place=place_path,
        )
    ]
