"""Tool names: cut into namespaces and words."""

from __future__ import annotations

import re

_NAMESPACE = re.compile(r"__+|::|[./:#]+")
#: `pushConfig`, `HTTPServer`, `ec2`, `CREATE_USER`: words by case, runs of capitals as one word.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: Longer names are no tool's; the rest is not looked at.
MAX_CHARS = 256


def segments(name: str) -> list[list[str]]:
    """Return the words (lower case) of each namespace of a tool name: `netops.pushConfig` ->
    [["netops"], ["push", "config"]]. Versions and numbers are left out."""
    parts = (_words(part) for part in _NAMESPACE.split(name[:MAX_CHARS]))
    return [words for words in parts if words]


def _words(part: str) -> list[str]:
    words = [word.lower() for word in _WORD.findall(part)]
    return [
        word
        for n, word in enumerate(words)
        if not word.isdigit() and not (word == "v" and n + 1 < len(words) and words[n + 1].isdigit())
    ]
