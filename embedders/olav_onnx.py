"""Embedder `onnx`: any directory with model.onnx and tokenizer.json, on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from olav_core import (
    ConfigError,
    EmbedderSpec,
    EmbedderUnavailableError,
    ModelIdentity,
    OnnxEncoder,
    Options,
    hookimpl,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]

DEFAULT_MAX_TOKENS = 512
_POOLINGS = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max", "lasttoken": "last"}
_QUERY_PROMPTS = ("query", "web_search_query", "s2p_query")
_PASSAGE_PROMPTS = ("passage", "document", "corpus")


@frozen(kw_only=True)
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
    _opened: list[tuple[OnnxEncoder, ModelIdentity]] = field(factory=list, init=False, eq=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, eq=False, repr=False)

    @property
    def identity(self) -> ModelIdentity:
        return self._open()[1]

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        encoder, identity = self._open()
        return encoder.encode(texts, prefix=identity.query_prefix)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        encoder, identity = self._open()
        return encoder.encode(texts, prefix=identity.passage_prefix)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[FloatArray]:
        encoder, identity = self._open()
        prefix = identity.query_prefix if query else identity.passage_prefix
        return encoder.token_vectors(texts, prefix=prefix)

    def _open(self) -> tuple[OnnxEncoder, ModelIdentity]:
        with self._lock:
            if not self._opened:
                self._opened.append(self._build())
            return self._opened[0]

    def _build(self) -> tuple[OnnxEncoder, ModelIdentity]:
        root = Path(self.path).expanduser()
        model = next((p for p in (root / "model.onnx", root / "onnx" / "model.onnx") if p.is_file()), None)
        if model is None:
            raise EmbedderUnavailableError(
                f"there is no model.onnx in {root} or {root / 'onnx'}. "
                "Point `embedder.options.path` in .olav/config.yaml at the model's directory."
            )
        prompts = _json(root / "config_sentence_transformers.json").get("prompts") or {}
        max_tokens = self.max_tokens or _max_tokens(root)
        encoder = OnnxEncoder(
            model,
            root / "tokenizer.json",
            pooling=self.pooling or _pooling(root),
            normalize=self.normalize,
            max_tokens=max_tokens,
            mend="Copy or export the model into that directory again.",
        )
        identity = ModelIdentity(
            name=root.resolve().name,
            revision=_sha256(model),
            pooling=encoder.pooling,
            normalize=self.normalize,
            query_prefix=_prompt(prompts, _QUERY_PROMPTS) if self.query_prefix is None else self.query_prefix,
            passage_prefix=(
                _prompt(prompts, _PASSAGE_PROMPTS) if self.passage_prefix is None else self.passage_prefix
            ),
            max_tokens=max_tokens,
        )
        return encoder, identity


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EmbedderUnavailableError(f"{path} cannot be read ({error}). Copy the model again.") from error
    return value if isinstance(value, dict) else {"modules": value}


def _pooling(root: Path) -> Any:
    """Return the pooling that the side files name, None when they name none."""
    folder = root / "1_Pooling"
    for module in _json(root / "modules.json").get("modules", ()):
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind == "Pooling":
            folder = root / str(module.get("path", "1_Pooling"))
        elif kind not in ("Transformer", "Normalize"):
            raise ConfigError(
                f"{root / 'modules.json'} has a {kind} layer after the model, which is not in model.onnx. "
                "Export the model with that layer (an output `sentence_embedding`) and set `pooling: model`."
            )
    config = _json(folder / "config.json")
    modes = [name.removeprefix("pooling_mode_") for name, on in config.items() if on is True]
    modes = [mode for mode in modes if mode != "include_prompt"]
    if not modes:
        return None
    if len(modes) > 1 or modes[0] not in _POOLINGS:
        raise ConfigError(
            f"{folder / 'config.json'} asks for pooling {' + '.join(modes)}; an encoder does "
            f"{', '.join(sorted(_POOLINGS.values()))}. Set `embedder.options.pooling` to override."
        )
    return _POOLINGS[modes[0]]


def _max_tokens(root: Path) -> int:
    for name, key in (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        value = _json(root / name).get(key)
        # tokenizer_config.json says 1e30 for "no limit".
        if isinstance(value, int) and 16 <= value <= 100_000:
            return value
    return DEFAULT_MAX_TOKENS


def _prompt(prompts: Mapping[str, str], names: Sequence[str]) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), "")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    # Weights over 2 GB lie beside the graph, in `model.onnx_data` or `model.onnx.data`.
    for file in sorted(path.parent.glob(f"{path.name}*")):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest() if file != path else opened.read())
    return digest.hexdigest()


def make(options: Options) -> OnnxEmbedder:
    if not isinstance(options.get("path"), (str, os.PathLike)):
        raise ConfigError("embedder 'onnx' needs `path`: the directory that holds model.onnx and tokenizer.json.")
    return OnnxEmbedder(**options)


@hookimpl
def olav_register_embedders() -> list[EmbedderSpec]:
    return [
        EmbedderSpec(id="onnx", title="Any ONNX text encoder in a directory, on this machine", factory=make)
    ]
