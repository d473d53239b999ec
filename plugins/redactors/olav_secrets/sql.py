# ruff: noqa: E501 (tables: one rule a line)
"""SQL: passwords of users and roles."""

from __future__ import annotations

import re

from olav_secrets.rule import low_rule
from olav_secrets.values import is_harmless
from olav_secrets.words import word_set

_CLAUSES = word_set(
    "expire history reuse require null never interval default for lock unlock is to policy using by"
)


def _is_secret(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return value.lower() not in _CLAUSES and not is_harmless(value, quoted=True)


_BARE = r"(?P<v>[^\s\"'`;,()<>\\]{4,200}(?:\\;)?)"

RULES = [
    low_rule("password", "identified", r"\bidentified\s+(?:with\s+\\*[\"']?\w+\\*[\"']?\s+)?(?:by|as)\s+(?:password\s+)?\\*[\"'](?P<v>[^\"'\n\\]{1,500})", _is_secret),
    low_rule("password", "identified", rf"\bidentified\s+(?:with\s+\w+\s+)?(?:by|as)\s+(?:values\s+)?{_BARE}", _is_secret),
    low_rule("password", "password", r"\bpassword\s*(?:=\s*)?(?:\(\s*)?n?\\*'(?P<v>[^'\n\\]{1,500})\\*'", _is_secret),
    low_rule("password", "login", rf"\b(?:login|encrypted|with)\s+password\s+{_BARE}", _is_secret),
    low_rule("password", "encryptbypassphrase pgp_sym", r"\b(?:encryptbypassphrase|decryptbypassphrase|pgp_sym_\w+)\s*\([^()\n]{0,200}?'(?P<v>[^'\n]{4,200})'\s*[,)]", _is_secret),
]  # fmt: skip
