"""What a chat model answered -> its bullets; thoughts, fences and prose around them are left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from olav_core import strip_block

MAX_BULLETS: Final = 12
#: A bullet is one convention; a longer one is an essay, a shorter one says nothing.
MIN_CHARS: Final = 6
MAX_CHARS: Final = 400
#: More is no list of bullets; patterns run over this much at most.
MAX_REPLY_CHARS: Final = 60_000

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*(?:[-*•·–‣▪]|\(?\d{1,2}[.)、）])[ \t]*(?=\S)(?P<text>.*)$")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_BAD_ESCAPE = re.compile(r"\\u(?![0-9a-fA-F]{4})")
_MARKUP = re.compile(r"\*\*|__(?=\S)|(?<=\S)__")
_REFUSAL = re.compile(
    r"\b(?:i(?:['’]m| am) (?:sorry|unable|not able|afraid)|i (?:can(?:['’]t|not)|cannot|won['’]t) "
    r"|as an ai\b|cannot (?:assist|help|comply))|(?:抱歉|对不起|我无法|我不能|作为一个?(?:人工智能|AI))",
    re.IGNORECASE,
)


def bullets_of(reply: str) -> list[str]:
    """Return the bullets of a reply, each once, as single lines; empty for a refusal or plain prose.

    A JSON list of strings counts as bullets too. Escapes such as `\\u4f60` are read; what holds a broken one
    is left out.
    """
    text = _THOUGHT_END.sub("", _THOUGHT.sub("", reply[:MAX_REPLY_CHARS]))
    text = strip_block(_FENCE.sub("", text)).strip()
    found = _from_json(text)
    lines: Iterable[str] = _from_lines(text) if found is None else found
    return list(dict.fromkeys(filter(None, map(_clean, lines))))[:MAX_BULLETS]


def _from_lines(text: str) -> Iterator[str]:
    current: str | None = None
    for line in text.splitlines():
        match = _BULLET.match(line)
        if match and not line.strip(" \t-*_"):  # a rule between sections
            match = None
        if match:
            if current is not None:
                yield current
            current = match["text"]
        elif current is not None:
            if line.strip() and line[:1] in " \t":  # the bullet goes on
                current += " " + line.strip()
            else:
                yield current
                current = None
    if current is not None:
        yield current


def _from_json(text: str) -> list[str] | None:
    if not text.startswith(("[", "{")):
        return None
    try:
        value: Any = json.loads(_BAD_ESCAPE.sub(r"\\\\u", text))
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = next((item for item in value.values() if isinstance(item, list)), None)
    if not isinstance(value, list):
        return None
    return [item for item in value if isinstance(item, str)]


def _clean(text: str) -> str:
    if _BAD_ESCAPE.search(text):
        return ""
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    text = " ".join(_MARKUP.sub("", text).split()).strip()
    if not MIN_CHARS <= len(text) <= MAX_CHARS or _REFUSAL.search(text) or text.endswith((":", "：")):
        return ""
    return "".join(char for char in text if char.isprintable() and not 0xD800 <= ord(char) <= 0xDFFF)
