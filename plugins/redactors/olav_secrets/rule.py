"""A rule: one shape of secret, and the short texts without which its pattern need not be tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from olav_secrets.shadow import View
from olav_secrets.span import Span

#: A match, and the text it stands in -> is it a secret?
Check = Callable[[re.Match[str], str], bool]
#: Up to this length a text's pairs of characters are looked up; above it each needle is searched for.
_SHORT = 4096


@frozen
class Rule:
    """`pattern` finds the secret as its group `v` (the whole match if it has none); what it matches holds one
    of the needles, and it never backtracks over more than a bounded run.

    `low`: it reads the text in lower case. `whole`: the match must not begin inside a longer word (a
    lookbehind in the pattern would forbid the fast search for its first characters).
    """

    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Check | None = None
    whole: bool = False
    low: bool = False


def rule(kind: str, needles: str, pattern: str, check: Check | None = None) -> Rule:
    """Make a rule that minds case; blanks separate the needles, the pattern is written in verbose form."""
    return Rule(kind, tuple(needles.split()), re.compile(pattern, re.VERBOSE), check)


def low_rule(kind: str, needles: str, pattern: str, check: Check | None = None) -> Rule:
    """Make a rule for either case: needles and pattern are in lower case, the check reads the text's own."""
    return Rule(kind, tuple(needles.split()), re.compile(pattern, re.VERBOSE), check, low=True)


def whole_rule(kind: str, needles: str, pattern: str, check: Check | None = None) -> Rule:
    """Make a rule whose match is no part of a longer word."""
    compiled = re.compile(f"(?:{pattern})(?![A-Za-z0-9_])", re.VERBOSE)
    return Rule(kind, tuple(needles.split()), compiled, check, whole=True)


class Table:
    """Rules, indexed by how their needles begin."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._by_start: dict[bool, dict[str, list[tuple[int, str]]]] = {False: {}, True: {}}
        for number, each in enumerate(self._rules):
            for needle in each.needles:
                self._by_start[each.low].setdefault(needle[:2], []).append((number, needle))

    def find(self, view: View) -> Iterator[Span]:
        """Yield what the rules find, rule by rule."""
        for number in sorted(self._candidates(view)):
            yield from _spans(self._rules[number], view)

    def _candidates(self, view: View) -> set[int]:
        if len(view.text) > _SHORT:
            return {
                number
                for number, each in enumerate(self._rules)
                if any(map(view.low_has if each.low else view.has, each.needles))
            }
        found = set()
        for low, text in ((False, view.text), (True, view.low)):
            starts = self._by_start[low]
            for start in starts.keys() & {*text, *map(str.__add__, text, text[1:])}:
                found.update(number for number, needle in starts[start] if needle in text)
        return found


def _spans(each: Rule, view: View) -> Iterator[Span]:
    searched = view.low if each.low else view.text
    group = "v" if "v" in each.pattern.groupindex else 0
    match = each.pattern.search(searched)
    while match:
        start, end = match.span(group)
        inside = each.whole and _is_word(searched[match.start() - 1 : match.start()])
        if start < end and not inside and (each.check is None or each.check(match, view.text)):
            yield Span(start, end, each.kind)
        following = match.start() + 1 if inside or start == end else match.end()
        match = each.pattern.search(searched, following)


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())
