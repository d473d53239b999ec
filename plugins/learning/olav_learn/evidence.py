"""The samples' texts, and what can be asked of them: whether a name, a range or a span occurs."""

from __future__ import annotations

import ipaddress
import re
from functools import cached_property
from typing import Final

from attrs import frozen

from olav_core import query_terms

HOLE: Final = re.compile(r"[<{\[][^\s<>{}\[\]]{1,40}[>}\]]")
_ADDRESS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?![\w]|\.\d)")


@frozen(slots=False)
class Evidence:
    """The samples' texts, and what can be asked of them."""

    texts: tuple[str, ...]

    @cached_property
    def _folded(self) -> tuple[str, ...]:
        return tuple(text.casefold() for text in self.texts)

    @cached_property
    def _addresses(self) -> tuple[ipaddress.IPv4Address, ...]:
        found = {match.group() for text in self.texts for match in _ADDRESS.finditer(text)}
        return tuple(sorted(filter(None, map(_address, found))))

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(term for text in self.texts for term in query_terms(text))

    def names(self, value: str) -> frozenset[int]:
        """Return the samples in which `value` stands by itself, not as a part of a longer word or number."""
        value = value.casefold()
        left = r"(?<![a-z0-9])" if value[:1].isascii() and value[:1].isalnum() else ""
        right = r"(?![a-z0-9])" if value[-1:].isascii() and value[-1:].isalnum() else ""
        pattern = re.compile(left + re.escape(value) + right)
        return frozenset(i for i, text in enumerate(self._folded) if pattern.search(text))

    def fits(self, template: str) -> frozenset[int]:
        """Return the samples that hold a value of a template such as `svc-<site>`."""
        parts = [re.escape(part.casefold()) for part in HOLE.split(template)]
        if not any(re.search(r"\w", part) for part in HOLE.split(template)):
            return frozenset(range(len(self.texts)))  # nothing but holes claims nothing
        pattern = re.compile(r"(?<![a-z0-9])" + r"[^\s\"',]{1,64}?".join(parts) + r"(?![a-z0-9])")
        return frozenset(i for i, text in enumerate(self._folded) if pattern.search(text))

    def covers(self, network: ipaddress.IPv4Network) -> frozenset[int]:
        """Return the samples with an address in `network`, none if it is wider than those addresses show.

        It must hold two of them, and be no wider than the smallest /8, /16 or /24 that holds them all.
        """
        inside = [address for address in self._addresses if address in network]
        if len(inside) < 2:
            return frozenset()
        common = 32 - (int(inside[0]) ^ int(inside[-1])).bit_length()
        if network.prefixlen < common // 8 * 8:
            return frozenset()
        held = {str(address) for address in inside}
        return frozenset(i for i, text in enumerate(self.texts) if held & set(_ADDRESS.findall(text)))

    def spans(self, first: str, last: str) -> frozenset[int]:
        """Return the samples with a number from `first` to `last`, none unless both ends occur."""
        if not (self.names(first) and self.names(last)):
            return frozenset()
        low, high = sorted((int(first), int(last)))
        return frozenset(
            i
            for i, text in enumerate(self.texts)
            if any(low <= int(match.group()) <= high for match in _NUMBER.finditer(text))
        )

    def shares_words(self, text: str) -> bool:
        return any(term in self._terms for term in query_terms(text) if len(term) > 1)


def _address(text: str) -> ipaddress.IPv4Address | None:
    try:
        return ipaddress.IPv4Address(text)
    except ValueError:
        return None
