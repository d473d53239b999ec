"""Reranker `cross_encoder`: a model that reads query and memory together, from any ONNX directory."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olav_core import ConfigError, OlavError, RankerSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Candidate, Options, Query

#: Tokens of query and memory together; longer memories lose their end.
MAX_TOKENS = 512
#: onnxruntime threads, as for the embedder: all cores up to here.
MAX_THREADS = 4


class CrossEncoder:
    """Options `path` (a directory with model.onnx, or onnx/model.onnx, and tokenizer.json) and `max_tokens`.

    The score is the model's own, through the logistic function: of one output that output, of several
    classes the last against the first. The model loads at the first recall.
    """

    def __init__(self, options: Options) -> None:
        given = options.get("path")
        if not isinstance(given, (str, os.PathLike)):
            raise ConfigError(
                "ranker 'cross_encoder' needs `recall.ranker_options.cross_encoder.path`: the directory that "
                "holds model.onnx and tokenizer.json."
            )
        root = Path(given).expanduser()
        self.model = next((p for p in (root / "model.onnx", root / "onnx/model.onnx") if p.is_file()), None)
        self.tokenizer = root / "tokenizer.json"
        if self.model is None or not self.tokenizer.is_file():
            raise ConfigError(
                f"ranker 'cross_encoder': {root} does not hold model.onnx and tokenizer.json. Export the "
                "model to ONNX with its tokenizer, and point `path` at that directory."
            )
        self.max_tokens = int(options.get("max_tokens", MAX_TOKENS))
        self._lock = threading.Lock()
        self._loaded: tuple[int, Any, Any] | None = None

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        import numpy as np

        if not candidates:
            return []
        session, tokenizer = self._load()
        pairs = [(query.text, candidate.record.search_text) for candidate in candidates]
        encodings = tokenizer.encode_batch(pairs)
        feeds = {
            "input_ids": np.array([each.ids for each in encodings], np.int64),
            "attention_mask": np.array([each.attention_mask for each in encodings], np.int64),
            "token_type_ids": np.array([each.type_ids for each in encodings], np.int64),
        }
        wanted = {each.name: feeds[each.name] for each in session.get_inputs() if each.name in feeds}
        logits = np.asarray(session.run(None, wanted)[0], np.float64).reshape(len(pairs), -1)
        raw = logits[:, -1] - logits[:, 0] if logits.shape[1] > 1 else logits[:, 0]
        scores: list[float] = (1.0 / (1.0 + np.exp(-np.clip(raw, -50, 50)))).tolist()
        return scores

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None or self._loaded[0] != os.getpid():
                self._loaded = os.getpid(), *self._read()
            return self._loaded[1], self._loaded[2]

    def _read(self) -> tuple[Any, Any]:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(os.cpu_count() or 1, MAX_THREADS)
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(
                str(self.model), options, providers=["CPUExecutionProvider"]
            )
            tokenizer = Tokenizer.from_file(str(self.tokenizer))
        except Exception as error:  # neither library has an error class of its own
            raise OlavError(
                f"the cross-encoder in {self.tokenizer.parent} is cut or damaged ({str(error)[:200]}). "
                "Export or copy it again."
            ) from error
        pad = tokenizer.padding or {}
        tokenizer.enable_padding(pad_id=pad.get("pad_id", 0), pad_token=pad.get("pad_token", "[PAD]"))
        tokenizer.enable_truncation(self.max_tokens, strategy="longest_first")
        return session, tokenizer


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="cross_encoder",
            stage="rerank",
            purpose="A cross-encoder in an ONNX directory reads query and memory together",
            factory=CrossEncoder,
            priority=60,
        )
    ]
