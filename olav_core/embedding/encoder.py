"""Text to vectors with an ONNX model: windows over long texts, batches of bounded size, pooling."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attrs import frozen

from olav_core.embedding.onnx_model import OnnxModel, load_model
from olav_core.embedding.tokenizer import Tokenizer
from olav_core.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray

Pooling = Literal["mean", "cls", "last", "max", "model"]
POOLINGS: tuple[Pooling, ...] = ("mean", "cls", "last", "max", "model")
#: Padded tokens per run. Attention of 12 heads over 2 windows of 512 takes 25 MB; on 2 cores larger batches
#: were not faster (e5 int4: 16 x 64 7,500 tokens/s, 32 x 64 7,000) and kept up to 130 MB more.
BATCH_TOKENS = 1024
#: Texts, and characters, that are tokenised at a time: token lists of a bulk call stay small.
CHUNK_TEXTS = 256
CHUNK_CHARS = 500_000
#: Neighbouring windows share at least this part of a window.
OVERLAP = 1 / 8


@frozen
class _Window:
    """One model input: the row it belongs to, its place in it, its ids, and the slice of new content."""

    row: int
    place: int
    ids: Sequence[int]
    new: slice


#: Row of a text -> (place of a window, the states of its new content).
_Parts = dict[int, list[tuple[int, "FloatArray"]]]


class OnnxEncoder:
    """Encodes texts with `model.onnx` and a tokenizer (`tokenizer.json`, or SentencePiece's `*.model`);
    loads at first use, once per process and file.

    Texts longer than `max_tokens` are cut into overlapping windows of equal length, the prefix in each, and
    their vector is the mean of the windows' vectors: the whole text counts, to its last sentence.

    `pooling`: mean, cls, last, max over the token vectors, or `model` for a model that pools itself (its
    2-D output); None takes `model` where there is such an output, else mean. `mend`: the sentence that ends
    the error when a file is missing or damaged. Safe to call from several threads.
    """

    def __init__(
        self,
        model_path: str | os.PathLike[str],
        tokenizer_path: str | os.PathLike[str],
        *,
        pooling: Pooling | None = None,
        normalize: bool = True,
        max_tokens: int = 512,
        batch_tokens: int = BATCH_TOKENS,
        mend: str = "Check the path, or install the model again.",
    ) -> None:
        if pooling is not None and pooling not in POOLINGS:
            raise ConfigError(f"pooling {pooling!r} is unknown. Use one of: {', '.join(POOLINGS)}.")
        if max_tokens < 16:
            raise ConfigError(f"max_tokens is {max_tokens}; a window needs at least 16 tokens.")
        self.model_path, self.tokenizer_path = Path(model_path), Path(tokenizer_path)
        self.normalize, self.max_tokens, self.batch_tokens = normalize, max_tokens, batch_tokens
        self._asked_pooling, self._mend = pooling, mend
        self._model: tuple[int, OnnxModel] | None = None
        self._leads: dict[str, Sequence[int]] = {}

    @property
    def pooling(self) -> Pooling:
        """The pooling in use; loads the model when it was left open."""
        if self._asked_pooling:
            return self._asked_pooling
        return "model" if self._load().pooled else "mean"

    def encode(self, texts: Sequence[str], *, prefix: str = "") -> FloatArray:
        """Return float32 [n, d], in the order of `texts`; unit rows when `normalize`.

        Raises EmbedderUnavailableError when a file is missing or damaged.
        """
        return self._encode(texts, prefix, None)

    def encode_with_tokens(
        self, texts: Sequence[str], *, prefix: str = ""
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Return what `encode` and `token_vectors` give, of one run of the model."""
        self._token_output()
        parts: _Parts = {row: [] for row in range(len(texts))}
        return self._encode(texts, prefix, parts), self._joined(parts)

    def token_vectors(self, texts: Sequence[str], *, prefix: str = "") -> list[FloatArray]:
        """Return the content tokens' last hidden states per text, float32 [tokens, d], not normalised.

        Special tokens and the prefix are left out; a token that two windows share comes from the first.
        Raises EmbedderUnavailableError, and ConfigError for a model that shows no token vectors.
        """
        model, output = self._load(), self._token_output()
        parts: _Parts = {row: [] for row in range(len(texts))}
        for windows in self._windows(model, texts, prefix):
            for batch in self._batches(windows):
                (states,), _ = self._run(model, batch, [output])
                _gather(parts, batch, states)
        return self._joined(parts)

    def _encode(self, texts: Sequence[str], prefix: str, parts: _Parts | None) -> FloatArray:
        """Return the vectors of `texts`; their token states go into `parts` where there is one."""
        import numpy as np

        model, pooling = self._load(), self.pooling
        total: FloatArray | None = None
        counts = np.zeros(len(texts), np.float32)
        for windows in self._windows(model, texts, prefix):
            for batch in self._batches(windows):
                vectors, states = self._pool(model, batch, pooling, with_tokens=parts is not None)
                if parts is not None:
                    _gather(parts, batch, states)
                if total is None:
                    total = np.zeros((len(texts), vectors.shape[1]), np.float32)
                rows = [window.row for window in batch]
                np.add.at(total, rows, vectors)
                np.add.at(counts, rows, 1)
        if total is None:
            return np.zeros((0, model.dimension or 0), np.float32)
        total /= counts[:, None]
        return _unit(total) if self.normalize else total

    def _joined(self, parts: _Parts) -> list[FloatArray]:
        import numpy as np

        empty = np.zeros((0, self._load().dimension or 0), np.float32)
        return [
            np.concatenate([state for _, state in sorted(found, key=lambda part: part[0])])
            if found
            else empty
            for found in parts.values()
        ]

    # --- from texts to windows ------------------------------------------------------------------

    def _windows(self, model: OnnxModel, texts: Sequence[str], prefix: str) -> Iterator[list[_Window]]:
        """Yield the windows of one chunk of texts after the other."""
        lead = self._lead(model.tokenizer, prefix)
        start = 0
        while start < len(texts):
            end, chars = start, 0
            while end < len(texts) and (
                end == start or (end - start < CHUNK_TEXTS and chars + len(texts[end]) <= CHUNK_CHARS)
            ):
                chars += len(texts[end])
                end += 1
            encodings = model.tokenizer.encode_batch([prefix + text for text in texts[start:end]])
            windows: list[_Window] = []
            for row, ids in enumerate(encodings, start):
                windows += self._cut(model.tokenizer, row, ids, lead)
            yield windows
            start = end

    def _lead(self, tokenizer: Tokenizer, prefix: str) -> Sequence[int]:
        """Return the ids that a text with this prefix begins with, as far as none reaches into the text."""
        if prefix not in self._leads:
            (ids,) = tokenizer.encode_batch([prefix.rstrip()])
            self._leads[prefix] = ids[: len(ids) - len(tokenizer.tail)]
        return self._leads[prefix]

    def _cut(self, tokenizer: Tokenizer, row: int, ids: Sequence[int], lead: Sequence[int]) -> list[_Window]:
        tail = tokenizer.tail
        first = 0
        while first < min(len(lead), len(ids) - len(tail)) and ids[first] == lead[first]:
            first += 1
        if len(ids) <= self.max_tokens:
            return [_Window(row, 0, ids or [tokenizer.pad], slice(first, len(ids) - len(tail)))]
        lead, content = ids[:first], ids[first : len(ids) - len(tail)]
        room = self.max_tokens - first - len(tail)
        if room < 8:
            raise ConfigError(f"the prefix fills {first} of {self.max_tokens} tokens. Shorten the prefix.")
        stride = room - int(room * OVERLAP)
        pieces = -(-(len(content) - room) // stride) + 1
        windows, covered = [], 0
        for piece in range(pieces):
            # Evenly spread: every window is full, so that the plain mean weighs no part of the text more.
            begin = round(piece * (len(content) - room) / (pieces - 1))
            new = slice(first + covered - begin, first + room)
            windows.append(_Window(row, piece, [*lead, *content[begin : begin + room], *tail], new))
            covered = begin + room
        return windows

    def _batches(self, windows: list[_Window]) -> Iterator[list[_Window]]:
        """Yield batches of similar length whose padded size stays within `batch_tokens`."""
        batch: list[_Window] = []
        for window in sorted(windows, key=lambda window: len(window.ids)):
            if batch and (len(batch) + 1) * len(window.ids) > self.batch_tokens:
                yield batch
                batch = []
            batch.append(window)
        if batch:
            yield batch

    # --- the model ------------------------------------------------------------------------------

    def _token_output(self) -> str:
        output = self._load().tokens
        if output is None:
            raise ConfigError(
                f"{self.model_path} gives one vector per text and no token vectors. "
                "Take a model with last_hidden_state, or switch the MaxSim ranker off."
            )
        return output

    def _run(
        self, model: OnnxModel, batch: list[_Window], outputs: list[str]
    ) -> tuple[list[FloatArray], NDArray[np.int64]]:
        import numpy as np

        pad = model.tokenizer.pad
        ids = np.full((len(batch), max(len(window.ids) for window in batch)), pad, np.int64)
        mask = np.zeros_like(ids)
        for place, window in enumerate(batch):
            ids[place, : len(window.ids)] = window.ids
            mask[place, : len(window.ids)] = 1
        feeds = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.maximum(mask.cumsum(axis=1) - 1, 0),
        }
        result = model.session.run(outputs, {name: feeds[name].astype(kind) for name, kind in model.inputs})
        return [np.asarray(each, np.float32) for each in result], mask

    def _pool(
        self, model: OnnxModel, batch: list[_Window], pooling: Pooling, *, with_tokens: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the windows' vectors float32 [b, d] and, `with_tokens`, the states of their tokens."""
        import numpy as np

        output = model.pooled if pooling == "model" else model.tokens
        if output is None:
            has = "one vector per text" if model.pooled else "token vectors"
            raise ConfigError(f"pooling {pooling!r} does not fit {self.model_path}, which gives {has} only.")
        outputs = [output]
        if with_tokens and output != model.tokens:
            outputs.append(self._token_output())
        found, mask = self._run(model, batch, outputs)
        states = found[0]
        if pooling == "model":
            pooled = states
        elif pooling == "cls":
            pooled = states[:, 0]
        elif pooling == "last":
            pooled = states[np.arange(len(batch)), mask.sum(axis=1) - 1]
        elif pooling == "max":
            pooled = np.where(mask[..., None] == 1, states, -np.inf).max(axis=1).astype(np.float32)
        else:
            weights = mask.astype(np.float32)
            pooled = np.einsum("bth,bt->bh", states, weights) / weights.sum(axis=1, keepdims=True)
        return _unit(pooled) if self.normalize else pooled, found[-1]

    def _load(self) -> OnnxModel:
        if self._model is None or self._model[0] != os.getpid():
            # A session's threads do not survive a fork, so a child process loads its own.
            self._model = (os.getpid(), load_model(self.model_path, self.tokenizer_path, self._mend))
        return self._model[1]


def _gather(parts: _Parts, batch: list[_Window], states: FloatArray) -> None:
    for window, state in zip(batch, states, strict=True):
        parts[window.row].append((window.place, state[window.new].copy()))


def _unit(vectors: FloatArray) -> FloatArray:
    import numpy as np

    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: FloatArray = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
    return unit
