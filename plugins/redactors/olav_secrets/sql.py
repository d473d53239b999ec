# ruff: noqa: E501 (tables: one rule a line)
"""SQL: passwords of users and roles, and of the rows that a statement inserts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from olav_secrets.names import LIKELY, named
from olav_secrets.rule import low_rule
from olav_secrets.shadow import View
from olav_secrets.span import Span
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
    low_rule("password", "password", r"\bset\s+password\s+for\s+[^\s=]{1,80}\s*(?:=|to)\s*(?:password\s*\(\s*)?'(?P<v>[^'\n\\]{1,500})'", _is_secret),
    low_rule("secret", "secret", r"\bcreate\s+(?:or\s+replace\s+)?(?:persistent\s+|temporary\s+)?secret\b[^;]{0,600}?\b(?:secret|session_token|bearer_token|password|connection_string|passphrase)\s+'(?P<v>[^'\n]{4,500})'", _is_secret),
    low_rule("password", "encryptbypassphrase pgp_sym", r"\b(?:encryptbypassphrase|decryptbypassphrase|pgp_sym_\w+)\s*\([^()\n]{0,200}?'(?P<v>[^'\n]{4,200})'\s*[,)]", _is_secret),
]  # fmt: skip

_INSERT = re.compile(
    r"\b(?:insert|replace)\s+(?:or\s+\w+\s+)?into\s+[\w.\"`\[\]]{1,120}\s*\((?P<columns>[^()]{1,2000})\)\s*values\s*"
)
_ROW = re.compile(r"\s*,?\s*\(")
_CELL = re.compile(
    r"\s*(?:n?'(?P<v>(?:[^'\\\n]|\\.|''){0,4096})'|[^,()']{0,400}(?:\([^()]{0,400}\))?)\s*(?P<end>[,)])"
)
#: Rows of one statement that are read.
_MOST_ROWS = 500


def find_inserted(view: View) -> Iterator[Span]:
    """Yield the strings that stand in the places of secret columns: INSERT INTO t (name, password) VALUES …"""
    if not view.low_has("into") or not view.low_has("values"):
        return
    for statement in _INSERT.finditer(view.low):
        columns = [named(part.strip(' \t\n"`[]')) for part in statement["columns"].split(",")]
        if not any(column and column.level >= LIKELY for column in columns):
            continue
        place = statement.end()
        for _ in range(_MOST_ROWS):
            row = _ROW.match(view.low, place)
            if row is None:
                break
            place, number = row.end(), 0
            while cell := _CELL.match(view.low, place):
                column = columns[number] if number < len(columns) else None
                if (
                    column
                    and column.level >= LIKELY
                    and cell["v"]
                    and not is_harmless(cell["v"], quoted=True)
                ):
                    yield Span(*cell.span("v"), column.kind)
                place, number = cell.end(), number + 1
                if cell["end"] == ")":
                    break
            else:
                break
