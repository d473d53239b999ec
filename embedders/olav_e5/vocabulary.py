"""The vocabulary as a `tokenizers` file: XLM-RoBERTa's unigram model."""

from __future__ import annotations

import lzma
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from olav_e5.weights import Weights

#: SentencePiece's compiled `nmt_nfkc` rule (Apache-2.0), as its trainer writes it into any model:
#: normalizer_spec.precompiled_charsmap, xz. Kept here so that no SentencePiece is needed.
NORMALIZER = Path(__file__).with_name("nmt_nfkc.xz")
_SPACE = "▁"


def build_tokenizer(weights: Weights) -> Tokenizer:
    """Return the tokenizer; it frames a text as `<s> … </s>`."""
    pieces = [(piece, float(score)) for piece, score in zip(weights.pieces, weights.scores, strict=True)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=weights.unk, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(lzma.decompress(NORMALIZER.read_bytes())),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement=_SPACE, prepend_scheme="always", split=True
    )
    tokenizer.decoder = decoders.Metaspace(replacement=_SPACE, prepend_scheme="always")
    bos, eos = weights.pieces[weights.bos], weights.pieces[weights.eos]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, weights.bos), (eos, weights.eos)],
    )
    special = (weights.bos, weights.pad, weights.eos, weights.unk)
    tokenizer.add_special_tokens(
        [AddedToken(weights.pieces[token], special=True, normalized=False) for token in special]
    )
    return tokenizer
