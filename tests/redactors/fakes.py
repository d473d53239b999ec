"""Fake secrets, put together at run time: no scanner finds any in the repository."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from hashlib import shake_128
from pathlib import Path
from string import ascii_letters, ascii_uppercase, digits
from typing import NamedTuple

WORD, TYPED, STRONG = "sword" + "fish", "hunt" + "er27", "Zx9" + "!kk2" + "mQ"
_ALPHABETS = {
    "m": ascii_letters + digits,
    "h": "0123456789abcdef",
    "u": ascii_uppercase + digits,
    "d": digits,
}
_FAKE = re.compile(r"⟨(\w+)⟩")


def _drawn(kind: str, length: int) -> str:
    """The same characters each time; a mixed run holds at least a digit, a capital and a small letter."""
    alphabet = _ALPHABETS[kind]
    run = "".join(
        alphabet[byte % len(alphabet)] for byte in shake_128(f"{kind}{length}".encode()).digest(length)
    )
    return run if kind != "m" or length < 4 else run[:-4] + "q7Zk"


def _basic(text: str) -> str:
    return b64encode(text.encode()).decode()


def _jwt() -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": "bob", "iat": 1700000000}]
    return ".".join(
        [
            *(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts),
            _drawn("m", 43),
        ]
    )


def _fake(match: re.Match[str]) -> str:
    name = match[1]
    if name[1:].isdigit():
        return _drawn(name[0], int(name[1:]))
    return {
        "word": WORD,
        "typed": TYPED,
        "strong": STRONG,
        "cisco7": "0822" + "455D" + "0A16",
        "basic": _basic("user:" + TYPED),
        "wrapped": _basic("password=" + TYPED),
        "wrapped_json": _basic(json.dumps({"password": WORD})),
        "jwt": _jwt(),
        "uuid": "-".join(_drawn("h", size) for size in (8, 4, 4, 4, 12)),
    }[name]


class Case(NamedTuple):
    """A text, what is left of it once the secrets are gone, and the secrets."""

    text: str
    left: str
    secrets: tuple[str, ...]


def case(line: str) -> Case:
    filled = _FAKE.sub(_fake, line.replace("⏎", "\n"))
    return Case(
        text=filled.replace("⟦", "").replace("⟧", ""),
        left=re.sub(r"⟦.*?⟧", "", filled, flags=re.DOTALL),
        secrets=tuple(re.findall(r"⟦(.*?)⟧", filled, flags=re.DOTALL)),
    )


def cases(file: str) -> list[str]:
    lines = (Path(__file__).parent / file).read_text("utf-8").split("\n")
    return [line for line in lines if line.strip() and not line.startswith("##")]


def pem(kind: str = "RSA ", lines: int = 12) -> str:
    dashes = "-" * 5
    body = "\n".join(_drawn("m", 64) for _ in range(lines))
    return f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}\n{body}\n{dashes}END {kind}PRIVATE KEY{dashes}"
