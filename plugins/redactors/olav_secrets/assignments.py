# ruff: noqa: E501 (tables)
"""Assignments: `name = value` in whatever notation, and `the password is value` in prose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from olav_secrets.names import LIKELY, SURE, Named, named
from olav_secrets.notation import Link, comma_link, loose_link, plain_link
from olav_secrets.shadow import View
from olav_secrets.span import Span
from olav_secrets.verdict import secret_values

#: Where a name may begin; the rest of it is read from there. Every branch begins with a plain character, so
#: that `re` passes over all others at once.
_STEM = re.compile(
    r"pass[ -]phrase|pass|paas|pasw|psw|pss|pwd|pw|p/w|psk|secr|sercret|token|tkn|scrt|sekret|cred|key|auth|sig|hmac|salt|nonce|cookie|sess|sid|seed"
    r"|otp|pin|pat|api|jwt|community|bearer|mnemonic|cert|webhook|unseal|encrypt|_sec\b|-sec\b|code|passphrase|kennwort|senha|contrase|motdepasse|пароль|токен"
    r"|密\s?码|密碼|口令|密[钥匙鑰]|秘[钥鑰]|私[钥鑰]|令牌|通行码|授权码|凭[据证]|团体[名字串]?|共同体|恢复码|助记词|暗号|种子|비밀|비번|패스워드|암호|토큰|パスワード|暗証番号|トークン"
)
_TAIL = re.compile(r"[A-Za-z0-9_$\-]{0,60}(?:\.[A-Za-z_][\w\-]{0,40}){0,3}")
_HAN_TAIL = re.compile(r"(?:信息|明文|密文|内容|字段|串|值|는|은|を|は)?")
#: The words after a name that still belong to it: "SECRET KEY:", "password for admin:", "API key (prod):".
_MORE = re.compile(
    r"(?P<words>(?:[ ](?!is\b|was\b|set\b|to\b)[A-Za-z]{2,14}+){1,3}?)(?=\s?[:=：＝])"
    r"|(?P<of>[ ](?:for|of|on|in|at|to|between|with)[ ][^\s:=,;]{1,40}(?:[ ][^\s:=,;]{1,40}){0,4}?)(?=\s?(?:[:=：＝]|is\b|was\b))"
    r"|(?P<clause>(?:[ ](?!is\b|was\b)[A-Za-z][A-Za-z0-9'-]{0,15}+){1,7}?)(?=[ ](?:is|was)[ ])"
    r"|(?P<note>[ ]?[(（][^()（）\n:=]{1,40}+[)）])(?=\s?[:=：＝])|,default(?=:)"
)
_LEFT_WORDS = re.compile(r"(?:[A-Za-z0-9_.$-]{1,24}[ ]){1,2}\Z")
#: YAML: the name that a line right below it belongs to, "hmac:" above "key: …".
_PARENT = re.compile(r"[ \t-]{0,40}[\"']?(?P<name>[\w.-]{2,60})[\"']?:[ \t]*")
#: The links of a chain, a=b=c=…: names whose value is the next name of the chain, never a secret.
_CHAIN = re.compile(r"(?:=[A-Za-z_](?:[A-Za-z0-9_-]{0,39}[A-Za-z0-9_])?(?==[A-Za-z0-9_]))++")
#: Last words that take their meaning from the words before: access key, SNMP community.
_QUALIFIED = re.compile(r"(?i)(?:key|token|secret|community)s?\d*\Z")


def find(view: View) -> Iterator[Span]:
    text, done = view.text, 0
    for stem in _STEM.finditer(view.low):
        if stem.start() < done:
            continue
        start, done = _name_span(text, *stem.span(), done)
        if chain := _CHAIN.match(text, done):
            done = text.rfind("=", done, chain.end()) + 1
            continue
        found, reach = _meaning(text, start, done)
        link = _link(text, start, done, reach, found) if found else None
        if found and link:
            for value in secret_values(text, found, link):
                yield Span(value.start, value.end, found.kind, link.json and not value.quoted)
                done = max(done, value.end)


def _name_span(text: str, start: int, end: int, floor: int) -> tuple[int, int]:
    """Return the whole name round its stem."""
    if text[start] > "\u3000":
        han = _HAN_TAIL.match(text, end)
        return start, han.end() if han else end
    lowest = max(floor, start - 60)
    while start > lowest and _is_part(text[start - 1]):
        start -= 1
    tail = _TAIL.match(text, end)
    end = tail.end() if tail else end
    return start, end - (end - start > 3 and text[end - 1] == "-")


def _is_part(char: str) -> bool:
    return char in "_.$-" or (char < "\u3000" and char.isalnum())


def _meaning(text: str, start: int, end: int) -> tuple[Named | None, int]:
    """Return what the name stands for, with the words round it, and how far these reach."""
    name = text[start:end]
    found, reach = named(name.lstrip("-.$")), end
    if more := _MORE.match(text, end):
        reach = more.end()
        if more["words"]:
            longer = named(f"{name} {more['words']}")
            if longer is None:  # "password policy:"
                return None, end
            if found is None or longer.level >= found.level:
                found = longer
    if (found is None or found.level < SURE) and (parent := _parent(text, start)):
        longer = named(f"{parent} {name}")
        if longer and (found is None or longer.level > found.level):
            found = longer
    if (found or _QUALIFIED.search(name)) and (found is None or found.level < SURE):
        before = _LEFT_WORDS.search(text, max(0, start - 50), start)
        longer = named(f"{before[0]}{name}") if before else None
        if longer and (found is None or longer.level > found.level):
            found = longer
    return found, reach


def _parent(text: str, start: int) -> str:
    """Return the name on the line above when the one at `start` is the first word of an indented line."""
    line = text.rfind("\n", max(0, start - 44), start)
    if line < 0 or line + 1 == start or text[line + 1 : start].strip(" \t\"'"):
        return ""
    above = text[max(text.rfind("\n", max(0, line - 120), line) + 1, line - 120) : line]
    parent = _PARENT.fullmatch(above)
    return parent["name"] if parent else ""


def _link(text: str, start: int, end: int, reach: int, found: Named) -> Link | None:
    link = plain_link(text, start, reach) or comma_link(text, end)
    if link is None and (
        found.level >= LIKELY or found.kind in {"key", "secret_key", "pin", "otp", "session", "seed"}
    ):
        link = loose_link(text, start, end, reach)
    return link
