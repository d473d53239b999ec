"""A lexicon: what a phrase of a query is called in other languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from attrs import frozen

from olav_core.text.analyzer import is_unspaced, phrase_terms, stems, units

#: What a concept is called beyond these is left out: a word of so many meanings tells little.
MAX_ALTERNATIVES = 12
#: Concepts of a query beyond these are left out (a pasted log).
MAX_CONCEPTS = 24
#: Concepts that stay made, each up to about 2 kB: questions to one memory use the same words again.
KEPT_CONCEPTS = 1_024
#: Columns of one line: languages.
MAX_LANGUAGES = 8

_HAN = re.compile("[\u4e00-\u9fff]+")
#: A blank that stands in a key between two characters, not between words.
_BETWEEN = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")


@frozen
class Concept:
    """What a stretch of a query is called in other languages.

    `words` are the stretch's units, `terms` its index terms, `phrases` its translations. `alternatives` are
    their index terms: a memory holds the concept when it holds all terms of one of them.
    """

    words: str
    phrases: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    terms: tuple[str, ...] = ()


@frozen
class Translation:
    """A query in other languages: its concepts, each once, and the share of its text that they stand for."""

    concepts: tuple[Concept, ...] = ()
    coverage: float = 0.0


class Lexicon:
    """Lines of a lexicon, looked up by the longest phrase. Frozen once it is made.

    A line holds the names of one concept, a column for each language: columns are separated by a tab, names
    within one by `|`. A lookup costs the query's length, not the number of lines. Loading is what counts, so
    lines stay as they are until a query meets them.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines: list[str] = []
        self._places: dict[str, int | tuple[int, ...]] = {}  # units -> line * MAX_LANGUAGES + column
        self._longest = 0
        self._load(lines)
        self._concept = lru_cache(KEPT_CONCEPTS)(self._made)

    def __len__(self) -> int:
        return len(self._lines)

    def _load(self, lines: Iterable[str]) -> None:
        self._lines = list(lines)
        phrases = "\n".join(self._lines).casefold().replace("\t", "\n").replace("|", "\n")
        plain = tuple({word for word in phrases.split() if word.isascii() and word.isalpha()})
        stem_of = dict(zip(plain, stems(plain), strict=True))
        places, longest = self._places, 0
        for number, line in enumerate(self._lines):
            for column, names in enumerate(line.casefold().split("\t")):
                place = number * MAX_LANGUAGES + column
                for name in names.split("|"):
                    if name in stem_of:
                        key = stem_of[name]
                    elif _HAN.fullmatch(name):
                        key = " ".join(name)
                    else:
                        words = name.split()
                        known = [stem_of.get(word) for word in words]
                        key = " ".join(known if None not in known else units(name))  # type: ignore[arg-type]
                    longest = max(longest, key.count(" ") + 1)
                    before = places.setdefault(key, place)
                    if before != place:
                        places[key] = (*before, place) if isinstance(before, tuple) else (before, place)
        self._longest = longest

    def knows(self, name: str) -> bool:
        """Return whether a query that is `name` is looked up as a whole."""
        key = " ".join(units(name))
        return bool(key) and key in self._places

    def translate(self, text: str) -> Translation:
        """Return the concepts of `text`, in order; where phrases overlap, the first and longest counts."""
        found = units(text)
        concepts: dict[str, Concept | None] = {}
        known = total = 0.0
        at = 0
        while at < len(found):
            length, key = self._longest_at(found, at)
            spoken = sum(0.5 if is_unspaced(unit) else 1.0 for unit in found[at : at + length])
            total += spoken
            if key and key not in concepts and len(concepts) < MAX_CONCEPTS:
                concepts[key] = self._concept(key)
            if concepts.get(key) is not None:
                known += spoken
            at += length
        kept = tuple(concept for concept in concepts.values() if concept is not None)
        return Translation(kept, known / total if total else 0.0)

    def _longest_at(self, found: Sequence[str], at: int) -> tuple[int, str]:
        for end in range(min(len(found), at + self._longest), at, -1):
            key = " ".join(found[at:end])
            if key in self._places:
                return end - at, key
        return 1, ""

    def _made(self, key: str) -> Concept | None:
        places = self._places[key]
        phrases: dict[str, None] = {}
        for place in places if isinstance(places, tuple) else (places,):
            number, column = divmod(place, MAX_LANGUAGES)
            for other, names in enumerate(self._lines[number].split("\t")):
                if other != column:
                    phrases.update(dict.fromkeys(names.split("|")))
        terms = [each for phrase in list(phrases)[:MAX_ALTERNATIVES] if (each := phrase_terms(phrase))]
        # What holds a longer name holds a shorter one within it: the shorter one is asked for alone.
        alternatives = [each for each in dict.fromkeys(terms) if not any(set(o) < set(each) for o in terms)]
        own = phrase_terms(_BETWEEN.sub("", key))
        return Concept(key, tuple(phrases), tuple(alternatives), own) if alternatives else None
