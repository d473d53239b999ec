"""The vocabulary as a SentencePiece model: XLM-RoBERTa's unigram pieces under their own ids.

Written in protocol buffers' wire format after sentencepiece_model.proto (google/sentencepiece, Apache-2.0).
"""

from __future__ import annotations

import lzma
import struct
from pathlib import Path

from olav_e5.weights import Weights

#: SentencePiece's compiled `nmt_nfkc` rule (Apache-2.0), as its trainer writes it into any model:
#: normalizer_spec.precompiled_charsmap, xz.
NORMALIZER = Path(__file__).with_name("nmt_nfkc.xz")
_UNIGRAM = 1
_UNKNOWN, _CONTROL = 2, 3  # piece types; 1, the default, is a normal one


def build_vocabulary(weights: Weights) -> bytes:
    """Return the serialised model."""
    kinds = {weights.bos: _CONTROL, weights.pad: _CONTROL, weights.eos: _CONTROL, weights.unk: _UNKNOWN}
    pieces = [
        _bytes(1, piece.encode()) + _float(2, score) + (_number(3, kinds[id_]) if id_ in kinds else b"")
        for id_, (piece, score) in enumerate(zip(weights.pieces, weights.scores.tolist(), strict=True))
    ]
    named = ((40, 45, weights.unk), (41, 46, weights.bos), (42, 47, weights.eos), (43, 48, weights.pad))
    trainer = _number(3, _UNIGRAM) + _number(4, len(weights.pieces))
    for id_field, piece_field, id_ in named:
        trainer += _number(id_field, id_) + _bytes(piece_field, weights.pieces[id_].encode())
    # A space before the text, runs of spaces as one and none at the ends, spaces as "▁".
    normalizer = _bytes(1, b"nmt_nfkc") + _bytes(2, lzma.decompress(NORMALIZER.read_bytes()))
    normalizer += _number(3, 1) + _number(4, 1) + _number(5, 1)
    return b"".join(_bytes(1, piece) for piece in pieces) + _bytes(2, trainer) + _bytes(3, normalizer)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
