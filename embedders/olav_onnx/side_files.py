"""sentence-transformers' side files: what a model's directory says about how to use it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from olav_core import ConfigError, EmbedderUnavailableError

DEFAULT_MAX_TOKENS = 512
_POOLINGS = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max", "lasttoken": "last"}
_QUERY_PROMPTS = ("query", "web_search_query", "s2p_query")
_PASSAGE_PROMPTS = ("passage", "document", "corpus")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EmbedderUnavailableError(f"{path} cannot be read ({error}). Copy the model again.") from error
    return value if isinstance(value, dict) else {"modules": value}


def pooling(root: Path) -> Any:
    """Return the pooling that the side files name, None when they name none."""
    folder = root / "1_Pooling"
    for module in _read_json(root / "modules.json").get("modules", ()):
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind == "Pooling":
            folder = root / str(module.get("path", "1_Pooling"))
        elif kind not in ("Transformer", "Normalize"):
            raise ConfigError(
                f"{root / 'modules.json'} has a {kind} layer after the model, which is not in model.onnx. "
                "Export the model with that layer (an output `sentence_embedding`) and set `pooling: model`."
            )
    config = _read_json(folder / "config.json")
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


def max_tokens(root: Path) -> int:
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        value = _read_json(root / name).get(key)
        # tokenizer_config.json says 1e30 for "no limit".
        if isinstance(value, int) and 16 <= value <= 100_000:
            return value
    return DEFAULT_MAX_TOKENS


def prompts(root: Path) -> tuple[str, str]:
    """Return (query prefix, passage prefix); empty where none is named."""
    found = _read_json(root / "config_sentence_transformers.json").get("prompts") or {}
    return _first(found, _QUERY_PROMPTS), _first(found, _PASSAGE_PROMPTS)


def _first(prompts: Mapping[str, str], names: Sequence[str]) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), "")
