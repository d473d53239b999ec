# ruff: noqa: E501 (tables: one rule a line)
"""Calls in code: functions that take a secret at a place that is known by their name."""

from __future__ import annotations

import re

from olav_secrets.rule import rule
from olav_secrets.values import is_harmless, looks_typed

_STRING = r"[bBrRuU@]{0,2}(?P<q>[\"'`])(?P<v>[^\"'`\n]{4,400})(?:(?P=q)|(?=[,)]))"
_USER = r"[\"'`][^\"'`\n]{0,80}[\"'`]\s*,\s*"


def _is_secret(match: re.Match[str], text: str) -> bool:
    return not is_harmless(text[match.start("v") : match.end("v")], quoted=True)


def _is_typed(match: re.Match[str], text: str) -> bool:
    value = text[match.start("v") : match.end("v")]
    return looks_typed(value) and not is_harmless(value, quoted=True)


RULES = [
    rule("password", "BasicAuth DigestAuth NtlmAuth Credentials basic_auth basicAuth",
         rf"\b\w{{0,24}}(?:BasicAuth|DigestAuth|NtlmAuth|Credentials?|basic_auth|basicAuth)\(\s*{_USER}{_STRING}", _is_secret),
    rule("password", "login( authenticate( signIn( sign_in(", rf"\b(?:login|authenticate|signIn|sign_in)\(\s*{_USER}{_STRING}", _is_typed),
    rule("password", "assword(", rf"\b(?:set|make|check|verify|change|reset|update)_?[pP]assword\(\s*(?:{_USER}|[\w.]{{1,40}}\s*,\s*)?{_STRING}", _is_typed),
    rule("key", "jwt. jose. Jwt. JWT. jsonwebtoken.", rf"\b\w{{0,20}}(?:jwt|Jwt|JWT|jose|jsonwebtoken)\.(?:sign|encode|decode|verify)\(\s*[^()\n]{{1,200}}?,\s*{_STRING}", _is_secret),
    rule("key", "hmac. Fernet( SecretKeySpec( AES. HMAC(", rf"\b(?:hmac\.(?:new|digest)|HMAC|Fernet|SecretKeySpec|AES\.new)\(\s*{_STRING}", _is_secret),
    rule("key", "createHmac createCipher hash_hmac encrypt(", rf"\b(?:createHmac|createCipher(?:iv)?|hash_hmac|(?:AES|DES|TripleDES|RC4)\.encrypt)\(\s*[^()\n]{{1,120}}?,\s*{_STRING}", _is_typed),
]  # fmt: skip
