"""Whether the samples bear out a bullet: every name, address, range, port and number in it occurs in them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from olav_core import language_of
from olav_learn.evidence import HOLE, Evidence

#: Words about data rather than in it.
_GENERIC: Final = frozenset(
    "ip ips ipv4 ipv6 id ids api apis url urls uri cidr json yaml uuid fqdn e.g i.e eg ie etc".split()  # noqa: SIM905
)
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”|「([^」]+)」|『([^』]+)』|(?<!\w)'([^']+)'(?!\w)")
_NETWORK = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}(?![\w.]*\d)")
_WILD = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){0,2}(?:\.[xX*]){1,3}(?![\w.])")
_TEMPLATE = re.compile(r"[\w./:-]*(?:[<{\[](?:[^\s<>{}\[\]]{1,40})[>}\]][\w./:-]*)+")
_TOKEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@-]*[A-Za-z0-9_]|[A-Za-z0-9]")
_COUNT = re.compile(
    r"(?:\b(?:all|the|these|in|of|from)\s+)*\b(\d+)\s*(?:(?:of|out of|/)\s*(?:the\s+)?(\d+)\s*)?"
    r"(?:samples|events|calls|records|cases|examples|operations|registrations)\b|(\d+)\s*(?:个|条|次)(?:样本|事件|调用|记录)?",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(?<![\w.])(\d{1,9})\s*(?:[-–—~～]|\bto\b|到|至)\s*(\d{1,9})(?![\w]|\.\d)")
_SENTENCE_START = re.compile(r"(?:\A|[.:;!?。：；！？(（]\s*|[—–]\s*)\Z")
#: Hyphenated words that describe ("lower-case", "per-site") instead of naming.
_DESCRIBING: Final = frozenset(
    """all based case cased cross defined digit dot end facing first high last letter level like long low
    lower multi non only per post pre prefixed read restart role self separated service short side single site
    specific style sub suffixed time two type upper well wide write zero""".split()  # noqa: SIM905 (a list of fifty lines reads worse)
)


@frozen
class Finding:
    """One bullet: `unsupported` are the claims that no sample bears out; `support` the samples that bear out
    all of them (None when it states nothing that could be looked up)."""

    bullet: str
    unsupported: tuple[str, ...]
    support: frozenset[int] | None

    @property
    def fault(self) -> str:
        if self.unsupported:
            return f"not in the samples: {', '.join(self.unsupported[:6])}"
        return "" if self.support else "nothing in it refers to the samples"


def examine(bullet: str, evidence: Evidence) -> Finding:
    """Look up every claim of a bullet."""
    found: list[frozenset[int]] = []
    unsupported: list[str] = []
    everything = frozenset(range(len(evidence.texts)))

    def settle(claim: str, support: frozenset[int]) -> str:
        if support:
            found.append(support)
        else:
            unsupported.append(claim)
        return " "

    def counted(match: re.Match[str]) -> str:
        numbers = [int(n) for n in match.groups() if n]
        return " " if all(n <= len(evidence.texts) for n in numbers) else match.group()

    rest = _COUNT.sub(counted, bullet)
    for pattern in (_NETWORK, _WILD):
        rest = pattern.sub(lambda m: settle(m.group(), _range(m.group(), evidence)), rest)
    for quote in [next(filter(None, m.groups())) for m in _QUOTED.finditer(rest)]:
        if not HOLE.search(quote):
            supported = evidence.names(quote) or _each(quote, evidence)
            settle(quote, supported)
    rest = _QUOTED.sub(lambda m: m.group() if HOLE.search(m.group()) else " ", rest)
    rest = _TEMPLATE.sub(lambda m: settle(m.group(), evidence.fits(m.group().rstrip(".:/-"))), rest)
    rest = _SPAN.sub(lambda m: settle(m.group(), evidence.spans(m[1], m[2])), rest)
    foreign = language_of(bullet) != "en"
    for match in _TOKEN.finditer(rest):
        token = match.group()
        if token.casefold() in _GENERIC:
            continue
        support = evidence.names(token)
        if support:
            if _is_claim(token, rest[: match.start()], foreign=foreign):
                found.append(support)
        elif _is_claim(token, rest[: match.start()], foreign=foreign):
            settle(token, _each(token, evidence) if "/" in token else support)
    if found:
        return Finding(bullet, tuple(unsupported), frozenset.intersection(*found) or frozenset.union(*found))
    words = everything if evidence.shares_words(bullet) else None
    return Finding(bullet, tuple(unsupported), words)


def agreement(findings: Sequence[Finding], samples: int) -> float:
    """Return the mean share of the samples that bears out a bullet, in [0, 1]."""
    if not findings or not samples:
        return 0.0
    return sum(len(finding.support or ()) for finding in findings) / (len(findings) * samples)


def _is_claim(token: str, before: str, *, foreign: bool) -> bool:
    """Whether a word names something: digits, signs or capitals in it, or Latin among another script."""
    if any(char.isdigit() for char in token) or any(char in token for char in "_.:@/"):
        return True
    if "-" in token:
        parts = token.split("-")
        return not all(part.isalpha() for part in parts) or not _DESCRIBING & {p.lower() for p in parts}
    if foreign:
        return len(token) > 1
    if len(token) > 1 and (token.isupper() or token[1:] != token[1:].lower()):
        return True
    return token[:1].isupper() and len(token) > 1 and not _SENTENCE_START.search(before)


def _each(text: str, evidence: Evidence) -> frozenset[int]:
    """A quote of several values ("tcp / 8001") holds when each of its words does."""
    words = [match.group() for match in re.finditer(r"[\w.@-]+", text)]
    if len(words) < 2:
        return frozenset()
    found = [evidence.names(word.strip(".-")) for word in words if word.strip(".-")]
    return frozenset.union(*found) if found and all(found) else frozenset()


def _range(text: str, evidence: Evidence) -> frozenset[int]:
    literal = evidence.names(text)
    if literal:
        return literal
    if "/" not in text:
        octets = [part for part in text.split(".") if part.isdigit()]
        text = ".".join(octets + ["0"] * (4 - len(octets))) + f"/{8 * len(octets)}"
    try:
        return evidence.covers(ipaddress.IPv4Network(text, strict=False))
    except ValueError:
        return frozenset()
