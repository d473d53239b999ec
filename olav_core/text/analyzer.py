"""The analyzer: cuts text into index terms, the same way for memories and for queries."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection
from functools import cache
from typing import Any

#: Part of the lexical index's stamp; raise it when `analyze` gives other terms, so that indexes are rebuilt.
ANALYZER_VERSION = 1
#: A query's distinct terms beyond this many are left out (64 term postings cost about 5 ms at 100k rows).
MAX_QUERY_TERMS = 64
#: Longer terms are indexed as a digest, so that they still match exactly and no term outgrows the index.
MAX_TERM_CHARS = 128

_CACHE_ENTRIES = 20_000
_CACHED_CHARS = 48

#: Scripts written without spaces, and Hangul, whose words carry endings: cut into overlapping pairs.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
_UNSPACED_RUN = re.compile(f"([{_UNSPACED}]+)")
#: Combining marks that belong to the letter before them but are not `\w`: Latin, Hebrew, Arabic, Indic.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
_CONNECTORS = r"._\-/:@\\=?&%#~+'’"
_ASCII_ATOM = r"[^\W_]++"
_ATOM = rf"(?:[^\W_]|[{_MARKS}])++"
#: Words and what joins them into one identifier; the joint is bounded, so a row of dots never is one.
_ASCII_CHUNK = re.compile(rf"{_ASCII_ATOM}(?:[{_CONNECTORS}]{{1,3}}+{_ASCII_ATOM})*+")
_CHUNK = re.compile(rf"{_ATOM}(?:[{_CONNECTORS}]{{1,3}}+{_ATOM})*+")
_SEGMENT_BREAK = re.compile(r"[/:@\\=?&%#~+]+")
_ATOM_BREAK = re.compile(r"[._\-/:@\\=?&%#~+]+")
_APOSTROPHE = re.compile(r"['’]s?(?![^\W_])|['’]")
_CAMEL_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DOTTED_NUMBER = re.compile(r"\d+(?:\.\d+){2,}\Z")
#: Invisible characters that only tear words apart: soft hyphen, zero-width, bidirectional controls, BOM.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

_terms_of_chunk: dict[str, tuple[str, ...]] = {}


def analyze(text: str) -> list[str]:
    """Return the index terms of `text`, in order, repeats kept; empty when it holds no letter or digit.

    Unicode NFKC and case folding; every word, and its stem as a second term when it differs (Snowball
    English, the one tantivy carries); identifiers, addresses, hashes, paths and URLs whole AND in parts
    (snake_case, kebab-case, camelCase, dotted, path segments; the octets of an address are not parts); pairs
    of neighbouring characters for scripts without spaces, one alone as itself. Linear time; NUL and lone
    surrogates are gaps.
    """
    terms: list[str] = []
    for run, unspaced in _runs(text):
        if unspaced:
            terms.extend([run[i : i + 2] for i in range(len(run) - 1)] or [run])
        else:
            for chunk in _chunks(run):
                terms.extend(_chunk_terms(chunk))
    return terms


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a query, at most MAX_QUERY_TERMS.

    A query with more (a pasted log) keeps up to half of the limit for its identifiers, whole, wherever they
    stand, and fills up from its beginning.
    """
    distinct = list(dict.fromkeys(analyze(text)))
    if len(distinct) <= MAX_QUERY_TERMS:
        return distinct
    whole = [term for term in distinct if _ATOM_BREAK.search(term) or _hash_like(term)]
    kept = set(whole[: MAX_QUERY_TERMS // 2])
    for term in distinct:
        if len(kept) >= MAX_QUERY_TERMS:
            break
        kept.add(term)
    return [term for term in distinct if term in kept]


def units(text: str) -> list[str]:
    """Return `text` as matching units for phrases: words by stem, identifiers whole, unspaced scripts by
    character.
    """
    found: list[str] = []
    for run, unspaced in _runs(text):
        if unspaced:
            found.extend(run)
        else:
            found.extend(_unit(chunk) for chunk in _chunks(run))
    return found


def phrase_terms(phrase: str) -> tuple[str, ...]:
    """Return the fewest index terms that tell `phrase`: stems of words, identifiers whole, pairs of
    characters; none for what is one character of a script without spaces."""
    found: dict[str, None] = {}
    for run, unspaced in _runs(phrase):
        terms = (run[i : i + 2] for i in range(len(run) - 1)) if unspaced else map(_unit, _chunks(run))
        found.update(dict.fromkeys(terms))
    return tuple(found)


def single_characters(terms: Collection[str]) -> bool:
    """Return whether all that a query holds is single characters of scripts without spaces (`核`): memories
    are cut into pairs, so such a one is looked for within them."""
    return bool(terms) and all(is_unspaced(term) for term in terms)


def is_unspaced(unit: str) -> bool:
    """Return whether a unit is one character of a script without spaces."""
    return len(unit) == 1 and _UNSPACED_RUN.match(unit) is not None


def stem(word: str) -> str:
    """Return the English stem of a case-folded ASCII word; any other word as it is."""
    return stems((word,))[0] if _stemmable(word) else word


def _runs(text: str) -> list[tuple[str, bool]]:
    """Return (text, is of a script without spaces) runs of the normalised text."""
    if text.isascii():
        return [(text, False)]
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    return [(run, i % 2 == 1) for i, run in enumerate(_UNSPACED_RUN.split(text)) if run]


def _chunks(run: str) -> list[str]:
    return (_ASCII_CHUNK if run.isascii() else _CHUNK).findall(run)


def _chunk_terms(chunk: str) -> tuple[str, ...]:
    terms = _terms_of_chunk.get(chunk)
    if terms is None:
        terms = _cut(chunk)
        if len(chunk) <= _CACHED_CHARS:
            if len(_terms_of_chunk) >= _CACHE_ENTRIES:
                _terms_of_chunk.clear()
            _terms_of_chunk[chunk] = terms
    return terms


def _cut(chunk: str) -> tuple[str, ...]:
    chunk = _APOSTROPHE.sub("", chunk)
    terms: list[str] = []
    words: list[str] = []
    if _ATOM_BREAK.search(chunk):
        terms.append(_bounded(chunk.casefold()))
    for segment in _SEGMENT_BREAK.split(chunk):
        atoms = _ATOM_BREAK.split(segment)
        if len(atoms) > 1 and segment != chunk:
            terms.append(_bounded(segment.casefold()))
        if _DOTTED_NUMBER.match(segment):
            continue
        for atom in atoms:
            if not atom:
                continue
            words.append(_bounded(atom.casefold()))
            if len(atom) <= MAX_TERM_CHARS and not atom.islower():
                parts = _CAMEL_BREAK.split(atom)
                words.extend(part.casefold() for part in parts if len(parts) > 1 and len(part) > 1)
    terms.extend(words)
    plain = [word for word in words if _stemmable(word)]
    terms.extend(stemmed for word, stemmed in zip(plain, stems(tuple(plain)), strict=True) if stemmed != word)
    return tuple(terms)


def _unit(chunk: str) -> str:
    chunk = _APOSTROPHE.sub("", chunk).casefold()
    return _bounded(stem(chunk))


def _bounded(term: str) -> str:
    if len(term) <= MAX_TERM_CHARS:
        return term
    return "long" + hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _hash_like(term: str) -> bool:
    return len(term) >= 12 and any(c.isdigit() for c in term)


def _stemmable(word: str) -> bool:
    return 3 <= len(word) <= 32 and word.isascii() and word.isalpha()


def stems(words: tuple[str, ...]) -> list[str]:
    """Return the English stems of case-folded words without a blank in them."""
    return list(_stemmer().analyze(" ".join(words))) if words else []


@cache
def _stemmer() -> Any:
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer("english")).build()
