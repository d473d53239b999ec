"""The shadow: the text as the finders see it, character for character in the same places.

What only decorates a secret is blanked (colour codes, HTML entities, escaped line ends), and what is
already masked is a run of one private character that no finder takes for a secret.
"""

from __future__ import annotations

import re
from functools import cached_property

from olav_secrets.mark import MARK

#: A character of an earlier mark. Private use: not a word character, not a space.
MASKED = "\ue001"
_COLOUR = re.compile(r"(?:\x1b|\\{1,4}(?:x1[bB]|u001[bB]|033|e))\[[0-9;]{0,12}m|\[[0-9]{1,2}m(?=\S)")
_ENTITY = re.compile(r"&(?:quot|apos|lt|gt|#3[49]|#x2[27]);|&amp;(?:quot|apos|#3[49]);")
_ENTITIES = {"quot": '"', "apos": "'", "lt": "<", "gt": ">", "#34": '"', "#39": "'", "#x22": '"', "#x27": "'"}
_ESCAPE = re.compile(r"\\{1,4}(?:[nrt]|u00(?:0[aAdD]|26))")
_ESCAPES = {"n": "\n", "r": "\n", "t": "\t", "a": "\n", "d": "\n", "6": "&"}


def _entity(match: re.Match[str]) -> str:
    name = match[0].removeprefix("&amp;").removeprefix("&").removesuffix(";")
    return _ENTITIES[name].rjust(len(match[0]))


def shadow(text: str) -> str:
    """Return the shadow of `text`: same length, same offsets."""
    if "<redacted:" in text:
        text = MARK.sub(lambda match: MASKED * len(match[0]), text)
    if "[" in text:
        text = _COLOUR.sub(lambda match: " " * len(match[0]), text)
    if "&" in text:
        text = _ENTITY.sub(_entity, text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: _ESCAPES[match[0][-1].lower()].rjust(len(match[0])), text)
    return text


def lowered(text: str) -> str:
    """Return the text in lower case with the same offsets (a few capitals grow when lowered; they stay)."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


class View:
    """What the finders read: the shadow, the same in lower case, and which short texts are in it at all."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._chars = set(text)
        self._has: dict[str, bool] = {}
        self._low_has: dict[str, bool] = {}

    @cached_property
    def low(self) -> str:
        return lowered(self.text)

    @cached_property
    def _low_chars(self) -> set[str]:
        return set(self.low)

    def has(self, needle: str) -> bool:
        """Return whether the text holds `needle`; looked for once, and only if its characters are there."""
        found = self._has.get(needle)
        if found is None:
            found = self._has[needle] = self._chars.issuperset(needle) and needle in self.text
        return found

    def low_has(self, needle: str) -> bool:
        """Return whether the text in lower case holds `needle`."""
        found = self._low_has.get(needle)
        if found is None:
            found = self._low_has[needle] = self._low_chars.issuperset(needle) and needle in self.low
        return found
