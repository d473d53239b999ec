"""Language by script: which language's mean a text's vector is centred with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_LANGUAGE = "en"
#: Script decides within this many characters: a text that changes language later is rare, megabytes are not.
SCRIPT_CHARS = 2_000
#: How many words one character of a script without spaces is worth (a Chinese word has about 1.5 characters).
WORDS_PER_CHAR = 2 / 3
#: A text whose unspaced characters are at least this share kana is Japanese, Han or not.
KANA_SHARE = 0.1

#: (first, last code point, language, words are separated by spaces). Latin counts as English.
_SCRIPTS: tuple[tuple[int, int, str, bool], ...] = (
    (0x0041, 0x005A, "en", True),
    (0x0061, 0x007A, "en", True),
    (0x00C0, 0x024F, "en", True),
    (0x0370, 0x03FF, "el", True),
    (0x0400, 0x052F, "ru", True),
    (0x0530, 0x058F, "hy", True),
    (0x0590, 0x05FF, "he", True),
    (0x0600, 0x06FF, "ar", True),
    (0x0750, 0x077F, "ar", True),
    (0x0900, 0x097F, "hi", True),
    (0x0980, 0x09FF, "bn", True),
    (0x0B80, 0x0BFF, "ta", True),
    (0x0E00, 0x0E7F, "th", False),
    (0x10A0, 0x10FF, "ka", True),
    (0x1E00, 0x1EFF, "en", True),
    (0x3041, 0x30FF, "ja", False),
    (0x31F0, 0x31FF, "ja", False),
    (0x3400, 0x4DBF, "zh", False),
    (0x4E00, 0x9FFF, "zh", False),
    (0xAC00, 0xD7AF, "ko", True),
    (0xF900, 0xFAFF, "zh", False),
    (0xFF21, 0xFF5A, "en", True),
    (0x20000, 0x3134F, "zh", False),
)
_LANGUAGES = tuple(dict.fromkeys(language for _, _, language, _ in _SCRIPTS))
#: Han and blanks alone, which need no counting.
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN_ALONE = re.compile(rf"\s*[{_HAN}][{_HAN}\s]*")
_SPACED = {language: spaced for _, _, language, spaced in _SCRIPTS}


@lru_cache(maxsize=256)
def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the script that carries most words of `text`; "en" when there is none.

    Latin counts as English, Han without kana as Chinese. Only the first SCRIPT_CHARS characters are looked
    at.
    """
    if text.isascii():
        return DEFAULT_LANGUAGE
    return "zh" if _HAN_ALONE.fullmatch(text, 0, SCRIPT_CHARS) else languages_of([text])[0]


def languages_of(texts: Iterable[str | None] | Any) -> list[str]:
    """Return `language_of` of every text in one pass; takes a pyarrow string array or any iterable of
    strings.
    """
    import numpy as np

    items: Sequence[str | None] = texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
    found = [DEFAULT_LANGUAGE] * len(items)
    other = [i for i, text in enumerate(items) if text and not text.isascii()]
    for start in range(0, len(other), 2_000):
        rows = other[start : start + 2_000]
        cut = [(items[i] or "")[:SCRIPT_CHARS] for i in rows]
        points = np.frombuffer("\n".join(cut).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        owners = np.repeat(np.arange(len(rows)), [len(text) + 1 for text in cut])[: len(points)]
        for i, code in zip(rows, _winners(points, owners, len(rows)), strict=True):
            found[i] = _LANGUAGES[code]
    return found


def _winners(points: NDArray[np.uint32], owners: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """Return the index of the winning language per text; `owners` says whose code point each is."""
    import numpy as np

    codes = _script_table()[np.minimum(points, 0x3FFFF)]
    starts = np.ones(len(codes), dtype=bool)
    starts[1:] = codes[1:] != codes[:-1]
    words = np.zeros((len(_LANGUAGES), rows), dtype=np.float32)
    for code in np.unique(codes[codes >= 0]):
        language = _LANGUAGES[code]
        counted = (codes == code) & starts if _SPACED[language] else codes == code
        words[code] = np.bincount(owners[counted], minlength=rows) * (
            1.0 if _SPACED[language] else WORDS_PER_CHAR
        )
    han, kana, latin = _LANGUAGES.index("zh"), _LANGUAGES.index("ja"), _LANGUAGES.index(DEFAULT_LANGUAGE)
    japanese = words[kana] > KANA_SHARE * (words[han] + words[kana])
    words[kana] = np.where(japanese, words[han] + words[kana], 0)
    words[han] = np.where(japanese, 0, words[han] + words[kana])
    return np.where(words.max(axis=0) > 0, words.argmax(axis=0), latin)


@cache
def _script_table() -> NDArray[np.int8]:
    """Return the language index of every code point up to 0x3FFFF, -1 for none."""
    import numpy as np

    table = np.full(0x40000, -1, dtype=np.int8)
    for first, last, language, _ in _SCRIPTS:
        table[first : last + 1] = _LANGUAGES.index(language)
    return table
