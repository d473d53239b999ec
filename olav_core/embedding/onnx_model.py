"""A model on disk, loaded: one onnxruntime session and one tokenizer per process and file."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from olav_core.embedding.tokenizer import Tokenizer, read_tokenizer
from olav_core.errors import ConfigError, EmbedderUnavailableError

#: onnxruntime threads: all cores up to here; more does not help a model of this size.
MAX_THREADS = 4
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")


@frozen(eq=False)
class OnnxModel:
    """A loaded session and tokenizer, and the names and types of the graph's ends."""

    session: Any
    tokenizer: Tokenizer
    inputs: tuple[tuple[str, str], ...]
    pooled: str | None
    tokens: str | None
    dimension: int | None


#: (model file, tokenizer file) -> (process, times and sizes of both; the model).
_LOADED: dict[tuple[str, str], tuple[tuple[int, ...], OnnxModel]] = {}
_LOADED_LOCK = threading.Lock()


def load_model(model_path: Path, tokenizer_path: Path, mend: str) -> OnnxModel:
    """Return the process's one loaded model of these files; loads it when new, or when a file changed."""
    signature: list[int] = [os.getpid()]
    for path in (model_path, tokenizer_path):
        try:
            stat = path.stat()
        except OSError as error:
            raise EmbedderUnavailableError(
                f"model file {path} cannot be read ({error.strerror}). {mend}"
            ) from error
        signature += [stat.st_mtime_ns, stat.st_size]
    key = (os.path.realpath(model_path), os.path.realpath(tokenizer_path))
    with _LOADED_LOCK:
        known = _LOADED.get(key)
        if known is None or known[0] != tuple(signature):
            known = _LOADED[key] = (tuple(signature), _read(model_path, tokenizer_path, mend))
        return known[1]


def _read(model_path: Path, tokenizer_path: Path, mend: str) -> OnnxModel:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(len(_cores()), MAX_THREADS)
    options.log_severity_level = 3
    # The agent's language model runs on the same cores, so threads do not spin while they wait (0.7 ms a
    # query slower on a quiet machine); without the arena a bulk call's memory goes back to the system.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False
    try:
        session = onnxruntime.InferenceSession(
            os.fspath(model_path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's errors share no base class
        raise _damaged(model_path, error, mend) from error
    try:
        tokenizer = read_tokenizer(tokenizer_path)
    except ImportError:
        raise
    except Exception as error:  # tokenizers raises bare Exception
        raise _damaged(tokenizer_path, error, mend) from error
    pooled, tokens, dimension = _outputs(session, model_path)
    return OnnxModel(session, tokenizer, _inputs(session, model_path), pooled, tokens, dimension)


def _damaged(path: Path, error: Exception, mend: str) -> EmbedderUnavailableError:
    reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    return EmbedderUnavailableError(f"model file {path} is cut or damaged ({reason}). {mend}")


def _cores() -> Sequence[int]:
    """The cores this process may use (macOS knows no affinity)."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)


def _inputs(session: Any, path: Path) -> tuple[tuple[str, str], ...]:
    inputs = tuple((i.name, i.type.removeprefix("tensor(").removesuffix(")")) for i in session.get_inputs())
    unknown = [name for name, _ in inputs if name not in _INPUTS]
    if unknown or "input_ids" not in dict(inputs):
        raise ConfigError(
            f"{path} asks for inputs {', '.join(name for name, _ in inputs)}; an encoder takes "
            f"{', '.join(_INPUTS)}. Export the model for feature extraction."
        )
    return inputs


def _outputs(session: Any, path: Path) -> tuple[str | None, str | None, int | None]:
    """Return (name of the pooled output, name of the token output, dimension if the graph tells it)."""
    by_rank: dict[int, list[Any]] = {2: [], 3: []}
    for output in session.get_outputs():
        by_rank.setdefault(len(output.shape), []).append(output)
    # `pooler_output` is BERT's next-sentence head, no sentence vector.
    pooled = next((o for o in by_rank[2] if o.name != "pooler_output"), None)
    named = [o for o in by_rank[3] if o.name in ("last_hidden_state", "token_embeddings")]
    tokens = next(iter(named or by_rank[3]), None)
    chosen = pooled or tokens
    if chosen is None:
        names = ", ".join(f"{o.name} {o.shape}" for o in session.get_outputs())
        raise ConfigError(f"{path} has outputs {names}; neither token vectors nor one vector per text.")
    size = chosen.shape[-1]
    return pooled and pooled.name, tokens and tokens.name, size if isinstance(size, int) else None
