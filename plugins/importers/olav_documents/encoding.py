"""Bytes of a text file to text."""

from __future__ import annotations

import codecs

from olav_documents.reading import Unreadable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Share of a Chinese text's ideographs that are among the 6,763 of GB 2312. Text of another double-byte
#: encoding read as GB18030 turns into rare ones.
_COMMON_SHARE = 0.9


def decode(raw: bytes) -> str:
    """Return the text of UTF-8 (with or without a mark), UTF-16 and UTF-32 with one, or GB18030.

    Anything else raises Unreadable with the line of the first bad byte: a guess would store garbage.
    """
    for mark, name in _MARKS:
        if raw.startswith(mark):
            try:
                return raw.decode(name)
            except UnicodeDecodeError as error:
                raise Unreadable(f"begins as {name}, but is not: {error.reason}. Save it as UTF-8.") from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        text = _gb18030(raw)
        if text is not None:
            return text
        line = raw.count(b"\n", 0, error.start) + 1
        what = "binary" if b"\0" in raw[:4096] else "neither UTF-8 nor GB18030"
        raise Unreadable(f"is {what}. Save the file as UTF-8.", line) from None


def _gb18030(raw: bytes) -> str | None:
    if b"\0" in raw:
        return None
    try:
        text = raw.decode("gb18030")
    except UnicodeDecodeError:
        return None
    sample = [char for char in text[:65_536] if ord(char) > 0x7F]
    ideographs = [char for char in sample if "\u4e00" <= char <= "\u9fff"]
    common = sum(_in_gb2312(char) for char in ideographs)
    if len(ideographs) * 2 < len(sample) or common < len(ideographs) * _COMMON_SHARE:
        return None
    return text


def _in_gb2312(char: str) -> bool:
    try:
        char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True
