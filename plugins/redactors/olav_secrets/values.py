# ruff: noqa: E501 (tables: one rule a line)
"""Values: which values of a secret's name are no secret, and which strings look like one."""

from __future__ import annotations

import re

from olav_secrets.fillers import FILLER_WORDS, FILLERS, PROSE
from olav_secrets.names import named
from olav_secrets.references import is_reference as is_reference
from olav_secrets.shadow import MASKED
from olav_secrets.words import ABOUT, NEUTRAL

#: A vendor's prefix in front of a filler: sk-xxxx, ghp_your_token.
_PREFIX = re.compile(
    r"(?:sk|pk|rk|ghp|gho|glpat|xox[a-z]|hf|npm|ak|akia|sk-ant|sk-proj)[-_](?=[xX.*…<\[{]|your|my|example|test-?key)"
)
_ALGORITHM = re.compile(
    r"(?:curve25519|x25519|ed25519|ecdsa|ecdh|ssh|rsa|dsa|hmac|aes\d*|chacha20|diffie|sntrup\d*|sha\d*|md5|[hre]s(?:256|384|512)|tls(?:v?\d[\d._]*)?)(?:[-_@.][a-z0-9.@-]*)?"
)
_HAN_PROSE = re.compile(
    "[见请已未需无空由在位天]|至少|必须|存放|联系|过期|重置|轮换|默认|策略|管理|使用|不能|不可|为空|同上|保密|略"
)
_HAN = re.compile(r"[\u3400-\u9fff\uac00-\ud7af\u3040-\u30ff]")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*\Z")
_PARTS = re.compile(r"[\W_]+")
_SWITCH = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_WORDY = re.compile(r"[A-Za-z]?[a-z]{2,}\d{0,3}|[A-Z]{2,}\d{0,3}|\d{1,8}|v\d+|[a-z]")
_TYPED_SIGNS = frozenset("!@#$%^&*?~+=")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_UUID = re.compile(r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?\Z")
_PLAIN_FORMS = re.compile(
    r"v?\d+(?:[.:/-]\d+)*(?:%|[a-z]{1,3})?|[\w.-]+\.(?:com|net|org|io|cn|dev|local|internal|example)(?::\d+)?(?:/\S*)?"
    r"|[^\s@]+@[\w-]+\.[\w.-]+|(?:[\w-]+/)+[\w-]+(?::[\w.-]+)?"
)


def is_harmless(value: str, *, quoted: bool = False) -> bool:
    """Return whether the value of a secret's name is no secret: a filler, a reference, a remark."""
    value = value.strip().strip("\"'`“”‘’").strip()
    if len(value) < 4 or not value.strip(MASKED + " .,;:!?'\"()[]{}<>-*_=&|/\\"):
        return True
    low = value.lower()
    if low.rstrip(".,;:!?)") in FILLERS or low == low[0] * len(low):
        return True
    if is_reference(value) or _ALGORITHM.fullmatch(low):
        return True
    if (prefix := _PREFIX.match(value)) and is_harmless(f"{value[prefix.end() :]}    "[:400].ljust(4, "x")):
        return True
    if len(value) < 80 and value.isascii() and (words := _WORDS.findall(value)):
        if all(word.lower() in FILLER_WORDS for word in words):
            return True
        variable = (
            not quoted and len(words) > 1 and _IDENTIFIER.match(value) and not any(map(str.isdigit, words))
        )
        if variable and (_names_one(words) or value.isupper()):  # DB_PASSWORD, apiToken
            return True
    if value.isupper() and "_" in value and named(value) and _IDENTIFIER.match(value):
        return True  # the name of an environment variable, quoted
    if " " in value and is_prose(value):
        return True
    return bool(_HAN.search(value) and _HAN_PROSE.search(value))


def _names_one(words: list[str]) -> bool:
    """Return whether a variable's words name a secret with nothing strange behind it: dbPassword, tokenValue,
    but not mailPwMt, which somebody chose."""
    last = words[-1].lower()
    known = last in ABOUT or last in NEUTRAL or last in FILLER_WORDS
    return named(last) is not None or (known and named("_".join(words)) is not None)


def is_prose(value: str) -> bool:
    words = value.lower().replace(",", " ").replace(".", " ").split()
    return len(words) > 1 and any(word in PROSE for word in words)


def looks_typed(value: str) -> bool:
    """Return whether it looks like something that a person was given to type: letters with digits or signs."""
    value = value.strip().rstrip(".,;:")
    if len(value) < 5 or _is_plain(value) or _HAN.search(value):
        return False
    chars = set(value)  # the same few in any long value
    letters = any(map(str.isalpha, chars))
    digits = any(map(str.isdigit, chars))
    signs = not _TYPED_SIGNS.isdisjoint(value[1:])
    if letters and signs:
        return True
    return letters and digits


def looks_strong(value: str) -> bool:
    """Return whether it looks typed and is no plain identifier (server01, rule-7)."""
    value = value.strip().rstrip(".,;:")
    if len(value) < 6 or not looks_typed(value):
        return False
    if any(char in "!@#$%^&*?~" for char in value[1:]):
        return True
    digits = any(char.isdigit() for char in value)
    cased = any(char.islower() for char in value) and any(char.isupper() for char in value)
    return digits and (cased or len(value) >= 12) and not _is_wordy(value)


def looks_chosen(value: str) -> bool:
    """Return whether it can hardly be anything but a password: small and capital letters, digits and a sign."""
    value = value.strip().rstrip(".,;:!?")
    return (
        len(value) >= 8
        and all(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit))
        and any(char in "!@$%^&*?~" for char in value[1:])
        and not _PLAIN_FORMS.fullmatch(value)
    )


def looks_signed(value: str) -> bool:
    """Return whether letters, digits and a sign that names and addresses do not have stand in one word."""
    value = value.strip().rstrip(".,;:")
    return (
        len(value) >= 6
        and any(char in "!#$^*~" for char in value[1:])
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
    )


def _is_plain(value: str) -> bool:
    """A path, a host, an address, a version; long base64 may have the form of a path and is none."""
    if not _PLAIN_FORMS.fullmatch(value[:400]):
        return False
    mixed = len(value) >= 24 and any(map(str.isupper, value)) and any(map(str.isdigit, value))
    return not (mixed and _BASE64.fullmatch(value) and not _is_wordy(value))


def looks_drawn(value: str, kind: str) -> bool:
    """Return whether a value of a name that may be a secret's looks random; behind some names a hash does, too."""
    long_hex = len(value) >= 16 and bool(_HEX.match(value)) and not value.isdigit()
    if kind == "secret_id" and _UUID.match(value):
        return True
    hex_kinds = {"salt", "nonce", "auth", "api_key", "seed", "secret", "secret_id", "secret_key"}
    return looks_random(value) or looks_chosen(value) or (long_hex and kind in hex_kinds)


def looks_random(value: str) -> bool:
    """Return whether it looks machine-made: long, letters and digits mixed, not made of words, no hash or UUID."""
    value = value.strip()
    if not 10 <= len(value) <= 10_000 or " " in value or _UUID.match(value) or _HEX.match(value):
        return False
    chars = set(value)
    if not any(map(str.isdigit, chars)) or not any(map(str.isalpha, chars)):
        return False
    if _is_plain(value) or _is_wordy(value) or _HAN.search(value):
        return False
    return len(chars) >= 8


def _is_wordy(value: str) -> bool:
    """Words, numbers and separators: node-07_primary, ClusterRole2."""
    if any(len(_SWITCH.findall(part)) >= 5 for part in _PARTS.split(value[:200])):
        return False  # letters and digits in turn, as in base32
    parts = [word for part in _PARTS.split(value[:200]) for word in _WORDS.findall(part)]
    if not parts:
        return False
    wordy = sum(
        len(part)
        for part in parts
        if (part.isalpha() and (len(part) > 3 or part.isupper() or (part.islower() and len(part) > 2)))
        or (part.isdigit() and len(part) < 5)
    )
    return len(parts) * 3 <= sum(map(len, parts)) and wordy >= 0.8 * sum(map(len, parts))
