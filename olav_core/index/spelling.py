"""A mistyped word of a query: the indexed words that are meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: Letters from which on one slip is looked for, and from which on two.
ONE_SLIP, TWO_SLIPS = 5, 8
#: What a word counts that was guessed, beside 1 of one that stands there.
CREDIT = 0.7
#: As many of the nearest words are asked for, the commonest ones.
GUESSES = 3
#: Words of a query that are guessed at, the first ones (a pasted text in another language).
MAX_GUESSED = 6


def may_be_mistyped(term: str) -> bool:
    """Return whether a term that no memory holds may be a slip: a word of ASCII letters, no identifier."""
    return len(term) >= ONE_SLIP and term.isascii() and term.isalpha()


def nearest(term: str, words: Mapping[str, int]) -> tuple[str, ...]:
    """Return the words of fewest slips from `term`, the commonest first; none when all are too far.

    `words` are counted. A slip is a letter more, less or other, or two that changed places; the first letter
    is taken as right.
    """
    allowed = 2 if len(term) >= TWO_SLIPS else 1
    found: list[str] = []
    for word in _of_like_length(term, words, allowed):
        distance = slips(term, word, allowed)
        if distance < allowed:
            allowed, found = distance, []
        if distance <= allowed:
            found.append(word)
    return tuple(sorted(found, key=lambda word: (-words[word], word))[:GUESSES])


def _of_like_length(term: str, words: Iterable[str], allowed: int) -> list[str]:
    letters = set(term)
    low, high = len(term) - allowed, len(term) + allowed
    # A slip brings at most one letter that the term does not have.
    return [
        word
        for word in words
        if low <= len(word) <= high and word[0] == term[0] and len(set(word) - letters) <= allowed
    ]


def slips(one: str, other: str, most: int) -> int:
    """Return the slips between two words (optimal string alignment), or `most` + 1 when there are more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, against in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
