"""Members of a structure: which names make their values secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from olav_secrets.mark import MARK
from olav_secrets.names import LIKELY, SURE, named
from olav_secrets.values import is_harmless, looks_drawn, looks_random, looks_typed

_HEADERS = {"authorization": "Authorization", "cookie": "Cookie"}
_LOGINS = frozenset(
    {"user", "username", "login", "user_name", "account", "host", "hostname", "uid", "用户名", "账号"}
)
#: Members that name what stands beside them: {"name": "DB_PASSWORD", "value": "…"}.
_NAMES = ("name", "key", "Name", "Key", "field", "variable", "ParameterKey", "parameter_key", "id", "名称")


class Name(NamedTuple):
    """The kind and level of a name (see names.py); `header` when the value reads like an HTTP header."""

    kind: str
    level: int
    header: str = ""


def name_of(key: object, siblings: Mapping[Any, Any]) -> Name | None:
    """Return what the key of a member names, in the light of the members beside it."""
    if not isinstance(key, str) or MARK.search(key):  # a key that spelled a secret itself names none
        return None
    low = key.lower()
    for ending, header in _HEADERS.items():
        if low.endswith(ending):
            return Name("authorization", SURE, header)
    if low in {"d", "k", "p", "q", "dp", "dq", "qi"} and "kty" in siblings:
        return Name("jwk", SURE)
    found = named(key)
    if found is None:
        return None
    if low == "pass" and any(str(sibling).lower() in _LOGINS for sibling in siblings):
        return Name(found.kind, SURE)
    return Name(*found)


def sibling_name(members: Mapping[Any, Any]) -> Name | None:
    """Return what {"name": NAME, "value": …} names."""
    for member in _NAMES:
        name = members.get(member)
        if isinstance(name, str) and len(name) < 100 and (found := named(name)):
            return Name(*found)
    return None


def is_secret_value(value: str | int | float, name: Name) -> bool:
    """Return whether the value of a member with this name is secret; a number is one only for a password."""
    if not isinstance(value, str):
        return (
            not isinstance(value, bool) and name.kind in {"password", "pin", "otp"} and len(str(value)) >= 4
        )
    if MARK.search(value):  # judged before: only a word glued to a mark is looked at again
        value = MARK.sub("", value)
        if name.level < SURE or " " in value or not value.isascii():
            return False
    if is_harmless(value, quoted=True):
        return False
    if name.level == SURE:
        return not (value.isdigit() and name.kind == "token")
    if name.kind in {"pin", "otp"}:
        return (value.isdigit() and 4 <= len(value) <= 8) or looks_random(value)
    return looks_typed(value) if name.level == LIKELY else looks_drawn(value, name.kind)


def login_of(member: Any) -> tuple[str, str] | None:
    """Return the user and the password of a list of the two."""
    if (
        isinstance(member, (list, tuple))
        and len(member) == 2
        and all(isinstance(each, str) for each in member)
    ):
        user, password = member
        if looks_typed(password) and not is_harmless(password):
            return user, password
    return None


def program_of(members: Mapping[Any, Any]) -> str:
    """Return the program whose arguments stand in a list beside it: {"command": "curl", "args": […]}."""
    for key in ("command", "cmd", "program", "executable", "bin"):
        name = members.get(key)
        if isinstance(name, str) and 0 < len(name) <= 60 and not any(map(str.isspace, name)):
            return name.rpartition("/")[2]
    return ""


def pair_name(items: list[Any], container: Any) -> Name | None:
    """Return what the first of two strings names, in a list of pairs: [["X-Api-Key", "…"], …]."""
    if len(items) == 2 and all(isinstance(item, str) for item in items) and isinstance(container, list):
        found = name_of(items[0], {}) if len(items[0]) <= 60 else None
        if found is not None and (found.header or looks_typed(items[1])):
            return found
    return None
