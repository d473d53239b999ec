# ruff: noqa: E501 (tables: one rule a line)
"""HTTP credentials: Authorization headers of every scheme, bare Bearer and Basic, cookies, password hashes."""

from __future__ import annotations

import re
from base64 import b64decode

from olav_secrets.rule import low_rule, rule
from olav_secrets.values import is_harmless, looks_random, looks_strong

_SCHEMES = "basic|bearer|token|digest|ntlm|negotiate|apikey|api-key|key|oauth|hmac|signature|googlelogin|kerberos|mac|splunk|sso-key|genie-?key|bot|zoho-oauthtoken|discogs"
#: Words that follow a scheme's name in prose.
_SAYING = re.compile(
    r"(?:auth|token|scheme|header|access|credential|format|plan|type|support|config|usage|setup|info|level|knowledge)\w*"
)


def _value(match: re.Match[str], text: str) -> str:
    return text[match.start("v") : match.end("v")]


def _is_header_value(match: re.Match[str], text: str) -> bool:
    value = _value(match, text)
    if value.endswith("=") and text[match.end("v") : match.end("v") + 1] in {'"', "'"}:
        return False  # a parameter of the scheme: Digest username="ops"
    return (not is_harmless(value) and not value.isalpha()) or (len(value) >= 20 and not is_harmless(value))


def _is_drawn(match: re.Match[str], text: str) -> bool:
    return looks_random(_value(match, text))


def _is_bearer(match: re.Match[str], text: str) -> bool:
    value = _value(match, text)
    if is_harmless(value) or _SAYING.match(value.lower()):
        return False
    return len(value) >= 8 and (any(map(str.isdigit, value)) or (len(value) >= 24 and not value.islower()))


def _is_basic(match: re.Match[str], text: str) -> bool:
    value = _value(match, text)
    try:
        decoded = b64decode(value + "=" * (-len(value) % 4)).decode("utf-8")
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _is_cookie(match: re.Match[str], text: str) -> bool:
    value = _value(match, text)
    return (
        looks_random(value)
        or (len(value) >= 16 and looks_strong(value))
        or bool(re.fullmatch(r"[0-9a-f]{24,128}", value))
    )


RULES = [
    low_rule("bearer", "bearer", r"\bbearer[ :\t]{1,3}[\"'<]?(?P<v>[\w.~+/=|:%-]{8,8192}+)", _is_bearer),
    low_rule("basic", "basic", r"\bbasic[ \t]{1,3}(?P<v>[a-z0-9+/_-]{8,2048}+={0,2})", _is_basic),
    low_rule("authorization", "authorization",
         rf"authorization(?:\\*[\"'])?\s{{0,3}}(?:[:=]|=>|,)\s{{0,3}}(?:\\*[\"'`])?(?:f[\"'])?(?:(?:{_SCHEMES})[ \t]{{1,3}})?(?P<v>[\w.~+/=|:%-]{{8,8192}}+)(?![(\[{{$<])", _is_header_value),
    low_rule("authorization", "authorization",
         r"authorization(?:\\*[\"'])?\s{0,3}[:=]\s{0,3}(?:\\*[\"'`])?[a-z][\w-]{1,24}[ \t]{1,3}(?P<v>[\w.~+/=|:%-]{12,8192}+)(?![(\[{$<])", _is_drawn),
    low_rule("cookie", "cookie", r"\bcookie(?:\\*[\"'])?\s{0,2}[:=]\s{0,2}(?:\\*[\"'])?(?:[\w.-]{1,60}=[^;\s\"']{0,80};[ ]?){0,8}?[\w.-]{0,40}(?:auth|token|sess|sid|jwt|remember|login)[\w.-]{0,20}=(?P<v>[^;\s\"'\\]{8,4096}+)", _is_header_value),
    low_rule("authorization", "authorization", r"authorization[^\n]{1,40}?\bdigest\b[^\n]{0,400}?\bresponse=\"?(?P<v>[0-9a-f]{32,64})"),
    low_rule("signature", "signature=", r"\b(?:oauth_signature|x-amz-signature|signature)=\\*[\"']?(?P<v>[\w+/%=-]{16,1024}+)"),
    low_rule("credential", "x-amz-credential= x-amz-security-token= credential=",
         r"\b(?:x-amz-credential|x-amz-security-token|credential)=(?P<v>[\w+/%=-]{16,4096}+)"),
    low_rule("cookie", "cookie", r"\bcookie(?:\\*[\"'])?\s{0,2}[:=]\s{0,2}(?:\\*[\"'])?(?:[\w.-]{1,60}=[^;\s\"']{0,80};[ ]?){0,8}?[\w.-]{1,60}=(?P<v>[^;\s\"'\\]{8,4096}+)", _is_cookie),
    low_rule("cookie", "sess sid=", r"\b[\w.-]{0,30}(?:sess|session|sessionid|sid)=(?P<v>[^;&\s\"'\\]{12,4096}+)", _is_cookie),
    # password hashes: crypt(3), Cisco 8 and 9, Juniper $9$, Huawei $h$, LDAP, Django, MySQL, NTLM dumps.
    rule("password_hash", "$", r"\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|sha1|P|H|h|argon2\w{0,2}|scrypt|pbkdf2[\w-]{0,10}|bcrypt[\w-]{0,10})\$[./\w$=,+-]{16,500}"),
    rule("password_hash", "$8$ $9$ $14$", r"\$(?:8|9|14)\$[./\w$-]{6,200}"),
    rule("password_hash", "{SSHA {SHA {SMD5} {MD5} {CRYPT} {ssha {PBKDF2", r"\{(?:SSHA\d{0,3}|ssha|SHA\d{0,3}|SMD5|MD5|CRYPT|PBKDF2[\w-]{0,12})\}(?P<v>[\w+/=.$]{16,500})"),
    rule("password_hash", "pbkdf2_ bcrypt_ argon2", r"\b(?:pbkdf2_sha\d+|bcrypt_sha256|argon2)\$[\w./$=,+-]{20,500}"),
    rule("password_hash", ":::", r":[0-9a-fA-F]{32}:[0-9a-fA-F]{32}(?=:::)"),
    rule("ntlm", "TlRMTVNTUAA", r"TlRMTVNTUAA[A-Za-z0-9+/]{8,}={0,2}"),
]  # fmt: skip
