"""Mentions: a word that only a password can be, in a line that speaks of one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from olav_secrets.shadow import View
from olav_secrets.span import Span
from olav_secrets.values import is_harmless, looks_chosen, looks_signed

_WORDS = (
    "passw",
    "passphrase",
    "pw",
    "cred",
    "secret",
    "login",
    "log in",
    "密码",
    "口令",
    "密钥",
    "登录",
    "账号",
)
#: Of these a line may speak without naming a password.
_VAGUE = frozenset({"secret", "login", "log in", "登录", "账号"})
_SPEAKS = re.compile("|".join(_WORDS))
_WORD = re.compile(
    r"(?<![!-~])[\w!@#$%^&*?~+.-]{6,64}(?=[,.;:!?]?(?![!-~]))"
    r"|(?<=[\"'`(])[\w!@#$%^&*?~+.-]{6,64}(?=[\"'`)])",
    re.ASCII,
)
#: The line is looked at this far on both sides.
_REACH = 200


def find(view: View) -> Iterator[Span]:
    """Yield words of letters, digits and signs in lines that mention a password."""
    if not any(map(view.low_has, _WORDS)):
        return
    text, done = view.text, 0
    for mention in _SPEAKS.finditer(view.low):
        if mention.start() < done:
            continue
        start = max(text.rfind("\n", done, mention.start()) + 1, mention.start() - _REACH, done)
        end = text.find("\n", mention.end(), mention.end() + _REACH)
        done = end if end >= 0 else min(mention.end() + _REACH, len(text))
        sure = mention[0] not in _VAGUE
        for word in _WORD.finditer(text, start, done):
            if (looks_chosen(word[0]) or (sure and looks_signed(word[0]))) and not is_harmless(word[0]):
                yield Span(word.start(), word.start() + len(word[0].rstrip(".,;:")), "password")
