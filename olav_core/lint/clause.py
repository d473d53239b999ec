"""A sentence of a guide: what it is about, whether it forbids, its opposable words and its values."""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen

from olav_core.text.analyzer import is_unspaced, units

_BULLET = re.compile(r"^\s*(?:[-*•·]|\(?\d{1,2}[.)、）])\s*")
_BREAK = re.compile(r"[\n;!?。；！？]|\.(?=\s|$)")
#: Words that turn an instruction into a prohibition.
_NEGATION = re.compile(
    r"\b(?:never|do\s+not|don['’]?t|must\s+not|mustn['’]?t|should\s+not|shouldn['’]?t|may\s+not|cannot|can['’]?t"
    r"|not|avoid|refrain\s+from|forbidden|prohibited)\b"
    r"|不要|不得|不能|不可以|不可|不准|不许|不应|禁止|严禁|切勿|请勿|绝不|永不|避免|无需|不必|勿",
    re.IGNORECASE,
)
#: Pairs that exclude each other. English is compared by stem, Chinese by the word itself.
OPPOSITES: Final = (
    ("enable", "disable"), ("allow", "deny"), ("allow", "block"), ("permit", "deny"), ("start", "stop"),
    ("add", "remove"), ("accept", "reject"), ("accept", "refuse"), ("increase", "decrease"),
    ("raise", "lower"), ("open", "close"), ("before", "after"), ("always", "never"), ("keep", "delete"),
    ("include", "exclude"), ("manual", "automatic"), ("first", "last"), ("uppercase", "lowercase"),
    ("upper", "lower"), ("plaintext", "encrypted"),
    ("启用", "禁用"), ("允许", "拒绝"), ("允许", "阻断"), ("打开", "关闭"), ("开启", "关闭"),
    ("增加", "减少"), ("添加", "删除"), ("保留", "删除"), ("接受", "拒绝"), ("之前", "之后"),
    ("手动", "自动"), ("提高", "降低"), ("大写", "小写"), ("明文", "密文"),
)  # fmt: skip
_VALUE = re.compile(
    r"(?<![\w.])(\d+(?:[.:]\d+)*(?:/\d+)?)\s*"
    r"(%|ms\b|s\b|sec(?:ond)?s?\b|min(?:ute)?s?\b|h(?:ours?)?\b|days?\b|weeks?\b|months?\b|[KMG]i?B\b|[kMG]?bps\b"
    r"|characters\b|times\b|毫秒|秒|分钟|小时|天|周|个月|月|次|字符|个|行)?",
    re.IGNORECASE,
)
#: Two words, or three pairs of Chinese characters: less in common is chance.
LEAST: Final = 1.5
_STOP = frozenset(
    {
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "with",
        "and",
        "or",
        "is",
        "are",
        "be",
        "it",
        "its",
    }
    | {"this", "that", "then", "than", "as", "by", "from", "when", "if", "you", "your", "must", "should"}
    | {"alway", "pleas", "ani", "all", "onli", "each", "everi"}  # by stem
)
_STOP_ZH = frozenset("的了在是和与或时请就都也把被将要先再才")


@frozen(kw_only=True)
class Clause:
    """`terms` leaves out negations, opposites and values: what the sentence is about."""

    text: str
    terms: frozenset[str]
    forbids: bool
    sides: frozenset[tuple[int, int]]  # (pair of OPPOSITES, which of the two)
    values: tuple[tuple[str, str], ...]

    @property
    def weight(self) -> float:
        return _weight(self.terms)

    def about(self, other: Clause) -> float:
        """Return the share of the shorter sentence's terms that the other has; 0 when that is little."""
        same = len(self.sides & other.sides)
        common = _weight(self.terms & other.terms) + same
        return common / (min(self.weight, other.weight) + same) if common >= LEAST else 0.0


def clauses(text: str) -> list[Clause]:
    """Return the sentences of a guide that have anything to compare."""
    found = (_clause(_BULLET.sub("", part).strip()) for part in _BREAK.split(text))
    return [clause for clause in found if clause.terms]


def _clause(text: str) -> Clause:
    forbids = len(_NEGATION.findall(text)) % 2 == 1
    rest = _NEGATION.sub(" ", text)
    values = tuple((number, (unit or "").casefold()) for number, unit in _VALUE.findall(rest))
    rest = _VALUE.sub(" ", rest)
    sides, rest = _opposites(rest)
    return Clause(text=text, terms=_terms(rest), forbids=forbids, sides=frozenset(sides), values=values)


def _opposites(text: str) -> tuple[set[tuple[int, int]], str]:
    sides = set()
    rest = text
    for number, pair in enumerate(OPPOSITES):
        for side, word in enumerate(pair):
            pattern = _forms(word) if word.isascii() else re.escape(word)
            if re.search(pattern, text, re.IGNORECASE):
                sides.add((number, side))
                rest = re.sub(pattern, " ", rest, flags=re.IGNORECASE)
    return sides, rest


def _forms(word: str) -> str:
    """Return a pattern for an English verb in any of its forms: deny, denies, denied; stop, stopping."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return rf"\b{word[:-1]}(?:y|ies|ied|ying)\b"
    stem = word.removesuffix("e")
    return rf"\b{stem}{stem[-1]}?(?:e|s|es|ed|ing)?\b"


def _terms(text: str) -> frozenset[str]:
    out: set[str] = set()
    before = ""
    for unit in units(text):
        if not is_unspaced(unit):
            if unit not in _STOP:
                out.add(unit)
            before = ""
            continue
        if unit in _STOP_ZH:
            before = ""
            continue
        if before:
            out.add(before + unit)
        before = unit
    return frozenset(out)


def _weight(terms: frozenset[str]) -> float:
    # A word says as much as two pairs of Chinese characters that overlap.
    return sum(0.5 if len(term) == 2 and is_unspaced(term[0]) else 1.0 for term in terms)
