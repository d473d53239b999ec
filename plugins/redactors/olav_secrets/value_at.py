"""The value that stands at a place in a text: quoted, bare, a YAML block, a list, an array of bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from olav_secrets.shadow import MASKED

#: No password is longer; long keys have rules of their own.
_LONGEST = 4096
_OPEN = re.compile(r"(?:[bBrRuUfFLN@$]{0,2})(?P<q>\\*(?:\"\"\"|'''|[\"'`])|[“「『‘])")
_CLOSES = {"“": "”", "「": "」", "『": "』", "‘": "’"}
_CHARS = {
    '"': re.compile(r'(?:[^"\\\n]|\\.){0,4096}+'),
    "'": re.compile(r"(?:[^'\\\n]|\\.){0,4096}+"),
    "`": re.compile(r"[^`\n]{0,4096}+"),
}
#: A bare value: no blank, quote, angle bracket, nor Chinese, Japanese or Korean letter or mark.
_BARE = re.compile(
    r"[^\s\"'`<>\u2018-\u201f\u2026\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uff20\uff3b-\uff65]{1,4096}"
)
#: YAML's type of what follows.
_TAG = re.compile(r"!!(?:binary|str)[ \t]+")
#: One set of characters in front lets `re` pass over all others at once.
_NEXT_FIELD = re.compile(
    r"[,;&|/%](?:(?<!%)[,;&|/]?[\"']?[A-Za-z_$][\w.-]{0,40}+[\"']?\s?(?:=|:(?!//)|:=|：)|(?<=%)26|(?<=[,;])[\"'\[{(\\])"
)
#: Without one of them no field follows: much faster to see in a long run.
_SIGNS = ",;&|/%"
_BLOCK = re.compile(
    r"[|>][+-]?\d?[ \t]*\n(?P<indent>[ \t]+)(?P<v>\S[^\n]*(?:\n(?:[ \t]*\n)?(?P=indent)[^\n]*){0,200})"
)
_BYTES = re.compile(
    r"[{\[(]\s*(?P<v>(?:0x[0-9a-fA-F]{1,2}|\d{1,3})(?:[\s,\\]+(?:0x[0-9a-fA-F]{1,2}|\d{1,3})){4,2000}[\s,]*)"
)
_STRINGS = re.compile(r"(?P<q>[\"'])(?P<v>[^\"'\n\\]{1,400})(?P=q)")
_PAIRS = {")": "(", "]": "[", "}": "{"}


class Value(NamedTuple):
    """Where it stands, and whether quotes hold it."""

    start: int
    end: int
    quoted: bool


def values_at(text: str, place: int) -> Iterator[Value]:
    """Yield the value at `place`, or the strings of the list that begins there."""
    if tag := _TAG.match(text, place):
        place = tag.end()
    char = text[place : place + 1]
    if char in "|>" and char and (block := _BLOCK.match(text, place)):
        yield Value(*block.span("v"), quoted=True)
        return
    if char in "{[(" and char:
        if array := _BYTES.match(text, place):
            yield Value(*array.span("v"), quoted=True)
            return
        if char == "[":
            close = text.find("]", place, place + _LONGEST)
            for each in _STRINGS.finditer(text, place, close if close > 0 else place):
                yield Value(*each.span("v"), quoted=True)
            return
    if (found := _quoted(text, place)) or (found := _bare(text, place)):
        yield found


def _quoted(text: str, place: int) -> Value | None:
    opening = _OPEN.match(text, place)
    if not opening:
        return None
    quote, start = opening["q"], opening.end()
    if chars := _CHARS.get(quote):
        run = chars.match(text, start)
        end = run.end() if run else start
        if text[end : end + 1] != quote:
            # cut off: the rest of the line is the value
            return Value(start, end, True) if end - start < _LONGEST else None
    else:
        end = text.find(_CLOSES.get(quote, quote), start, start + _LONGEST)
        line = text.find("\n", start, start + _LONGEST)
        if end < 0 or (0 <= line < end and len(quote) == 1):
            return _bare(text, start)
    inner = text[start:end]
    if quote == "`" and " " in inner:
        return None  # a command whose output is the value
    return Value(start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip()), True)


def _bare(text: str, place: int) -> Value | None:
    run = _BARE.match(text, place)
    if not run:
        return None
    value = run[0]
    if any(sign in value for sign in _SIGNS) and (cut := _NEXT_FIELD.search(value, 1)):
        value = value[: cut.start()]
    while value and _trails(value):
        value = value[:-1]
    return Value(place, place + len(value), False) if value.strip(MASKED) else None


def _trails(value: str) -> bool:
    """Return whether the last character belongs to the text round the value: punctuation, a lone bracket."""
    last = value[-1]
    return last in ",;:.\\" or (last in _PAIRS and value.count(last) > value.count(_PAIRS[last]))
