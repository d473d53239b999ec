# ruff: noqa: E501 (tables)
"""Notation: what stands between a name and its value, in code, configuration, shells, prose and Chinese prose."""

from __future__ import annotations

import re
from typing import NamedTuple

_TYPE = re.compile(r"\s?:\s?[A-Za-z_][\w.\[\]<>|?]{0,40}\s?=\s?(?=[\"'`rbuf])")
_SEPARATOR = re.compile(
    r"""(?P<close>\\*["'`]?(?:\[\d{0,6}\]|[\])])?)\s{0,8}
        (?P<op>:=|=>|->|<-|={1,3}|!={1,2}|\?=|\+=|\|\|=|%3[DdAa]|[:：＝](?!//))
        (?P<gap>[ \t]{0,40}(?:\n\s{0,40}(?=[\"'|]))?(?:\(\s?(?=[\"']))?)""",
    re.VERBOSE,
)
_COMMA = re.compile(r"\\*[\"']\s{0,4},\s{0,4}(?=(?P<q>\\*[\"'])[^\"'\n]{1,200}(?P=q)(?!\s?:))")
_PAREN = re.compile(r"\s?[(（]\s?(?!['\"\s)])|[ ][-–—][ ](?=\S)")
_VERB = re.compile(
    r"'s[ ]+|\s{1,4}(?:is|was|are)\s+(?:now\s+|set\s+to\s+)?|\s{1,4}(?:(?:is\s+|was\s+|has\s+been\s+)?(?:set|changed|updated|reset|rotated))\s+to\s+"
    r"|\s{1,4}(?:to|as)\s+(?=\S*\d)|\s{0,2}(?:已经?|就|也|都|统一|全部|重新|被|已统一)?(?:用的是|指的是|是|为|改为|改成|设为|设成|设置为|设置成|更新为|更新成|重置为|重置成|修改为|修改成|变更为|换成|叫做?|改成了|改为了|换成了|设成了|重置成了|重置为了)了?\s{0,2}[:：]?\s{0,2}"
)
_BLANK = re.compile(r"[ \t]{1,4}(?=\S)|(?<=[\u3400-\u9fff\uac00-\ud7af])(?=[!-~“「『‘])")
#: What makes a blank as good as an equals sign: #define, %define, set, setenv, export.
_DEFINES = re.compile(r"(?:#\s?define|%define|%global|\bset|\bsetenv|\bdefine)\s{1,4}\Z", re.IGNORECASE)


class Link(NamedTuple):
    """What links a name with the value at `place`. `op`: `=` (and its like), `:` `,` `(` `is` or a blank; `json`: the
    name is quoted and a colon follows, so a bare value is a JSON number."""

    op: str
    place: int
    json: bool = False


def plain_link(text: str, start: int, end: int) -> Link | None:
    """Return the operator behind the name `start:end`: name = value, "name": value, name: str = value."""
    if typed := _TYPE.match(text, end):
        return Link("=", typed.end())
    separator = _SEPARATOR.match(text, end)
    if separator and not _closes(text, start, separator):
        if separator["op"].startswith(("==", "!=")) and text[separator.end() : separator.end() + 1].isalpha():
            return Link("is", separator.end())  # a comparison, often of two variables
        colon = separator["op"] in {":", "："}
        return Link(":" if colon else "=", separator.end(), colon and '"' in separator["close"])
    return None


def _closes(text: str, start: int, separator: re.Match[str]) -> bool:
    """Return whether the quote behind the operator closes the one before the name: expect "Password:" …"""
    quote = text[separator.end() : separator.end() + 1]
    return not separator["close"] and quote in {'"', "'"} and text[start - 1 : start] == quote


def loose_link(text: str, start: int, end: int, reach: int) -> Link | None:
    """Return what links the name `start:end` in prose; the words that belong to it may reach further."""
    if (paren := _PAREN.match(text, end)) and text[start - 1 : start] not in {".", "_"}:
        return Link("(", paren.end())
    if verb := _VERB.match(text, reach) or (_VERB.match(text, end) if end != reach else None):
        return Link("is", verb.end())
    if blank := _BLANK.match(text, end):
        defines = text[start] == "-" or _DEFINES.search(text, max(0, start - 12), start)
        return Link("=" if defines else " ", blank.end())
    return None


def comma_link(text: str, end: int) -> Link | None:
    """Return the comma of ("name", "value")."""
    comma = _COMMA.match(text, end)
    return Link(",", comma.end()) if comma else None
