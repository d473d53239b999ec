"""The verdict: is the value behind a name and its link a secret?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from olav_secrets.names import LIKELY, SURE, Named
from olav_secrets.notation import Link
from olav_secrets.value_at import Value, values_at
from olav_secrets.values import (
    is_harmless,
    looks_chosen,
    looks_drawn,
    looks_random,
    looks_strong,
    looks_typed,
)

_WORD_FOLLOWS = re.compile(r"[,.;]?[ \t]+[A-Za-z][a-z'’-]*(?![\w.-]*\s?[:=(@])")
_MORE_WORDS = re.compile(r"(?:[ ]+[a-z0-9][a-z0-9'-]*(?!\w*\s?[:=])){0,12}", re.IGNORECASE)
#: A member of its own, found by its own name: credentials: username=ops, …
_MEMBER = re.compile(r"[A-Za-z_][\w-]{0,40}=[^=]")


def secret_values(text: str, found: Named, link: Link) -> Iterator[Value]:
    """Yield the values behind the link that are secrets."""
    values = values_at(text, link.place)
    for value in _phrase(text, values) if found.kind == "passphrase" and link.op != " " else values:
        inner = text[value.start : value.end]
        if not value.quoted and _MEMBER.match(inner):
            continue
        if not is_harmless(inner, quoted=value.quoted) and _is_secret(text, inner, value, found, link.op):
            yield value


def _phrase(text: str, values: Iterator[Value]) -> Iterator[Value]:
    """A passphrase has blanks in it: bare, it goes on while words follow."""
    for value in values:
        more = None if value.quoted else _MORE_WORDS.match(text, value.end)
        yield value._replace(end=more.end()) if more else value


def _is_secret(text: str, inner: str, value: Value, found: Named, op: str) -> bool:
    if found.level < LIKELY and op in {"(", "is", " "}:
        number = op == "is" and found.kind in {"pin", "otp"} and inner.isdigit() and 4 <= len(inner) <= 8
        drawn = (
            found.kind in {"key", "secret_key", "session", "seed"}
            and len(inner) >= 20
            and looks_random(inner)
            and inner[:4] != "AAAA"
        )
        return number or drawn or looks_chosen(inner)
    if op == "(":
        return looks_strong(inner)
    if op == ",":
        return looks_typed(inner)
    if op == "is":
        number = inner.isdigit() and len(inner) >= 6 and found.kind == "password"
        return number or looks_typed(inner) or (value.quoted and " " not in inner)
    if op == " ":
        chinese = text[value.start - 2 : value.start].strip() > "\u3000"  # a Chinese name stands in front
        if inner.isdigit():
            return chinese and found.kind == "password" and len(inner) >= 6
        if value.quoted or chinese or (found.kind in {"password", "passphrase"} and len(inner) >= 6):
            return looks_typed(inner)
        return looks_strong(inner)
    if found.level == SURE:
        return _is_assigned(text, inner, value, found.kind, op)
    if found.kind in {"pin", "otp"}:
        return (inner.isdigit() and 4 <= len(inner) <= 8) or looks_random(inner)
    return looks_typed(inner) if found.level == LIKELY else looks_drawn(inner, found.kind)


def _is_assigned(text: str, inner: str, value: Value, kind: str, op: str) -> bool:
    if inner.isdigit():
        return kind == "password"
    if value.quoted or kind == "passphrase":
        return True
    if "\u3400" <= inner[0] <= "\u9fff":
        return False  # a remark in Chinese
    begins_sentence = op == ":" and inner.isalpha() and _WORD_FOLLOWS.match(text, value.end)
    return not begins_sentence
