# ruff: noqa: E501 (tables: one rule a line)
"""URLs and connection strings: passwords before the host, tokens as users, drivers' own forms."""

from __future__ import annotations

import re

from olav_secrets.rule import rule
from olav_secrets.values import is_harmless, looks_drawn, looks_random, looks_typed

_LABELS = re.compile(
    r"(?:mailto|sips?|xmpp|email|e-?mail|mail|contact|id|user|username|login|from|to|cc|bcc|account|name|author|ssh|git|host|by|via)\Z",
    re.IGNORECASE,
)


_HEX = re.compile(r"(?=[a-f]*\d)[0-9a-f]{24,}\Z")


def _is_password(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return (
        bool(value)
        and not (len(value) >= 4 and is_harmless(value))
        and not re.fullmatch(r"[$<{%*x].*|\*+|x+|\.+", value)
    )


def _is_token(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return looks_random(value) or bool(_HEX.match(value))


def _is_parameter(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return looks_drawn(value, "secret_id")


def _is_pair(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return not _LABELS.search(match["user"]) and looks_typed(value) and not is_harmless(value)


RULES = [
    rule("url_password", "://", r"://[^\s:@/?#\"'<>\\]{0,100}+:(?P<v>[^\s/?#\"'<>\\]{1,300})@(?=[\w.\[%$\{-])", _is_password),
    rule("url_password", "://", r"://[^\s:@/?#\"'<>\\]{1,100}+:(?!\d{1,5}[/?#])(?P<v>[^\s@\"'<>\\]{1,300})@(?=[\w.-]{1,100}[:/])", _is_password),
    rule("url_token", "://", r"://(?P<v>[^\s:@/?#\"'<>\\]{16,500}+)@", _is_token),
    rule("url_token", "key= sig= sign= auth= ticket= code= tk= signature=", r"(?i:[?&](?:key|sig|sign|signature|auth|ticket|code|tk|k)=)(?P<v>[\w.~%+/-]{16,500})(?![\w.])", _is_parameter),
    rule("url_password", "jdbc:oracle", r"jdbc:oracle:\w{1,8}:[^\s/:@]{1,60}/(?P<v>[^\s@\"']{1,100})@", _is_password),
    rule("url_password", "sqlplus expdp impdp", r"\b(?:sqlplus|expdp|impdp|rman|sqlldr)\s+(?:-\w+\s+)?[\"']?\w{1,40}/(?P<v>[^\s@\"']{1,100})@?", _is_password),
    rule("url_password", "@", r"(?<![\w/:.@-])(?:[\w.-]{1,30}/)?(?P<user>[A-Za-z][\w.+-]{0,40}):(?P<v>[^\s:@/\"'<>|,;(){}]{5,80})@(?=[\w-]{1,60}(?:\.[\w-]{1,60})+|localhost)", _is_pair),
    rule("password", ":543 :6432: :*:", r"(?<![^\s:])[\w.*-]{1,100}:(?:543\d|6432|\*):[^:\s]{1,60}:[^:\s]{1,60}:(?P<v>[^\s:]{4,100})[ \t]*(?m:$)", _is_password),
    rule("password", "machine", r"\bmachine\s+\S{1,100}\s+login\s+\S{1,100}\s+password\s+(?P<v>\S{1,200})", _is_password),
    rule("password", "smb", r"\b(?:smbclient|smbmap|rpcclient|net\s+rpc|mount\.cifs)\b[^\n|;]{0,200}?(?:-U|--user)[ =]?[\"']?[^\s%\"']{1,60}%(?P<v>[^\s\"']{1,100})", _is_password),
]  # fmt: skip
