"""Which rows' keywords a query holds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from olav_core.text.analyzer import is_unspaced, units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A keyword of more words, or of more characters of a script without spaces, is never looked up.
MAX_WORDS = 6
MAX_CHARS = 12

_Phrase = tuple[str, ...]


class KeywordTable:
    """Keyword phrases -> rows. A phrase is a run of units: words by stem, identifiers exactly, CJK by
    character.

    A lookup costs the query's length, not the number of rows. Not safe for concurrent change.
    """

    def __init__(self) -> None:
        self._rows: dict[_Phrase, set[int]] = {}
        self._phrases: dict[int, tuple[_Phrase, ...]] = {}
        self._longest = 0

    def __len__(self) -> int:
        return len(self._phrases)

    def put(self, row: int, keywords: Iterable[str]) -> None:
        """Set the keywords of a row."""
        self.drop(row)
        phrases = tuple(dict.fromkeys(phrase for word in keywords if (phrase := _phrase(word))))
        if not phrases:
            return
        self._phrases[row] = phrases
        for phrase in phrases:
            self._rows.setdefault(phrase, set()).add(row)
            self._longest = max(self._longest, len(phrase))

    def drop(self, row: int) -> None:
        """Forget a row; an unknown one is no error."""
        for phrase in self._phrases.pop(row, ()):
            rows = self._rows[phrase]
            rows.discard(row)
            if not rows:
                del self._rows[phrase]

    def moved(self, slots: dict[int, int]) -> KeywordTable:
        """Return a table with the rows renamed; one that is not named is left out."""
        fresh = KeywordTable()
        fresh._longest = self._longest
        for row, phrases in self._phrases.items():
            if row in slots:
                fresh._phrases[slots[row]] = phrases
                for phrase in phrases:
                    fresh._rows.setdefault(phrase, set()).add(slots[row])
        return fresh

    def hits(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return (rows, strengths in (0, 1]) of the rows with a keyword in `text`.

        Strength of one keyword = length / (length + 0.5) * 1 / (1 + ln(rows that share it)): a longer and a
        rarer keyword says more. Length counts a word 1 and a CJK character 0.5. Several keywords of one row
        add up as 1 - product(1 - strength).
        """
        import numpy as np

        missed: dict[int, float] = {}
        found = units(text) if self._rows else []
        seen: set[_Phrase] = set()
        for start in range(len(found)):
            for end in range(start + 1, min(start + self._longest, len(found)) + 1):
                phrase = tuple(found[start:end])
                rows = self._rows.get(phrase)
                if rows is None or phrase in seen:
                    continue
                seen.add(phrase)
                shared = tuple(rows)
                strength = _weight(phrase) / (1 + math.log(max(len(shared), 1)))
                for row in shared:
                    missed[row] = missed.get(row, 1.0) * (1 - strength)
        rows_found = np.fromiter(missed.keys(), dtype=np.int64, count=len(missed))
        return rows_found, 1 - np.fromiter(missed.values(), dtype=np.float32, count=len(missed))


def _phrase(keyword: str) -> _Phrase:
    found = tuple(units(keyword))
    chars = sum(is_unspaced(unit) for unit in found)
    return found if len(found) - chars <= MAX_WORDS and chars <= MAX_CHARS else ()


def _weight(phrase: _Phrase) -> float:
    length = sum(0.5 if is_unspaced(unit) else 1.0 for unit in phrase)
    return length / (length + 0.5)
