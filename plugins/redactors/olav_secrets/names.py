"""Names: does a key, a field or a variable name a secret, and how surely?"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from olav_secrets.words import (
    ABOUT,
    ASKING,
    KEY,
    MAYBE,
    NEUTRAL,
    NOT_SECRET,
    OTHER_KEYS,
    OTHER_TOKENS,
    PASSWORD,
    SECRET,
    SECRET_KEYS,
    TOKEN,
)

#: Sure: any value but a harmless one is masked. Likely: the value must look like a credential (a digit or a
#: special character). Maybe: the value must look random.
SURE, LIKELY, MAYBE_ = 3, 2, 1

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_HAN_NAME = re.compile(
    r"(?:密\s?码|口令|密[钥匙鑰]|秘[钥鑰]|私[钥鑰]|令牌|通行码|授权码|凭[据证]|密碼|团体[名字串]?|共同体"
    r"|恢复码|助记词|暗号|(?i:pin)\s?码|种子)"
    r"(?:明文|密文|内容|信息|字段|串|值)?$"
)
_HAN_KINDS = {"密钥": "key", "密匙": "key", "秘钥": "key", "私钥": "key", "密鑰": "key", "令牌": "token"}


class Named(NamedTuple):
    """What a name stands for: the kind for the mark, and how surely (SURE, LIKELY, MAYBE_)."""

    kind: str
    level: int


@lru_cache(maxsize=8192)
def named(name: str) -> Named | None:
    """Return what `name` stands for in any spelling (api-key, apiKey, API_KEY, X-Auth-Token, 数据库密码)."""
    if len(name) > 100:
        return None
    if han := _HAN_NAME.search(name.strip()):
        if han[0].startswith(("团体", "共同体")):
            return Named("community", SURE)
        if han[0].startswith(("恢复码", "助记词", "种子")):
            return Named("seed", LIKELY)
        return Named(_HAN_KINDS.get(han[0][:2], "password"), SURE)
    words = [word.lower() for word in _WORD.findall(name)]
    while words and words[-1].isdigit():
        words.pop()
    if words[:1] == ["enable"] and len(words) == 2 and words[1] in {"secret", "password", "pwd", "pw"}:
        return Named("password", SURE)  # the name of Cisco's own
    if not words or words[0] in ASKING:
        return None
    if words[-2:] == ["secret", "id"]:
        return Named("secret_id", MAYBE_)  # a password beside the role's id, in Vault's AppRole
    if words[-2:] == ["session", "id"]:
        return Named("session", MAYBE_)
    if words[-1] in ABOUT and words[-1] not in MAYBE:
        return None
    for index in range(len(words) - 1, -1, -1):
        word, before, after = words[index], words[:index], words[index + 1 :]
        if word in NOT_SECRET:
            continue
        found = _word(word, before)
        if found is None:
            continue
        if any(later in ABOUT for later in after):
            return None
        plain = all(later in NEUTRAL or later.isdigit() or later in _SAME for later in after)
        return found if plain else found._replace(level=min(found.level, LIKELY))
    return None


_SAME = frozenset({"key", "token", "secret", "password", "pw", "pwd", "pass", "keys", "tokens"})


def _word(word: str, before: list[str]) -> Named | None:
    last = before[-1] if before else ""
    if word in {"passphrase", "passphrases"} or (word == "phrase" and last == "pass"):
        return Named("passphrase", SURE)
    if PASSWORD.search(word):
        return Named("password", SURE)
    if word == "pass" or (word.endswith("pass") and len(word) > 5):
        return Named("password", SURE if before or len(word) > 4 else LIKELY)
    if word in {"p", "w"} and before[-1:] == ["p"]:
        return Named("password", SURE)
    if SECRET.search(word):
        return Named("secret", LIKELY if word.endswith("s") and word != "creds" else SURE)
    if word == "sec" and last in {"app", "client", "api", "corp", "auth", "ak", "access"}:
        return Named("secret", MAYBE_)
    if TOKEN.search(word):
        if last in OTHER_TOKENS:
            return None
        return Named("token", LIKELY if word.endswith("s") or word == "jwt" else SURE)
    if KEY.search(word):
        return _key(word, before)
    if word == "cookie" and last in {"erlang", "session", "auth", "xauth"}:
        return Named("session", SURE)
    if word in MAYBE:
        if word == "snmpcommunity":
            return Named("community", SURE)
        if word == "community":
            return Named("community", SURE if "snmp" in before else LIKELY)
        if word == "code":
            return Named("code", MAYBE_) if last in {"auth", "authorization", "access"} else None
        return Named(MAYBE[word], MAYBE_)
    if word.endswith(("login", "auth")) and len(word) > 5:
        return Named("auth", MAYBE_)
    return None


def _key(word: str, before: list[str]) -> Named | None:
    if word not in {"key", "keys"}:
        stem = word.removesuffix("s").removesuffix("key")
        for qualifier in SECRET_KEYS:
            if stem.endswith(qualifier):
                return Named("key", SURE)
        return None if stem in OTHER_KEYS else Named("key", MAYBE_)
    last = before[-1] if before else ""
    if last in OTHER_KEYS:
        return None
    if any(part in SECRET_KEYS for part in before[-2:]):
        return Named("key", LIKELY if word == "keys" else SURE)
    return Named("secret_key" if before else "key", MAYBE_)
