"""Linear time: twice the text takes at most three times as long, whatever the text (CASES 28)."""

from __future__ import annotations

import pytest
from processor_time import growth, seconds

from olav_core import build_registry

REDACT = build_registry().redactors["secrets"].redact
_BEGIN = "-" * 5 + "BEGIN RSA PRIVATE KEY" + "-" * 5 + "\n"
_END = _BEGIN.replace("BEGIN", "END")

#: name -> a text made of a repeated part, behind a head
SHAPES: dict[str, tuple[str, str]] = {
    "one letter": ("", "A"),
    "dots": ("", "a."),
    "braces": ("", "}{][)(\":,'"),
    "open braces": ("", '{"[('),
    "cut PEM": (_BEGIN, "MIIEpAIBAAKCAQEA" * 4 + "\n"),
    "cut PEM on one line": (_BEGIN, "A"),
    "PEM beginnings": ("", _BEGIN),
    "PEM ends": ("", _END),
    "assignments": ("", "password="),
    "open quotes": ("", 'password="'),
    "names": ("", "password "),
    "names in a chain": ("", "key="),
    "names and colons": ("", "password: "),
    "names of calls": ("", "jwt.sign(a,"),
    "calls": ("", "setPassword("),
    "changes": ("", "password from "),
    "elements": ("", "<key>"),
    "manifests": ("", "kind: Secret\ndata:\n  a: bcdef\n"),
    "values": ("", "密码：abc12345，"),
    "brackets behind a name": ("password=", ")"),
    "backslashes": ("", "\\"),
    "escaped quotes": ("password: ", '\\"'),
    "tags": ("", "<password>"),
    "name and value": ("", 'name: "x", '),
    "URLs": ("", "://a:"),
    "at signs": ("://", "a:b@"),
    "headers": ("", "Authorization: "),
    "cookies": ("cookie: ", "a=b; "),
    "commands": ("", "curl -u mysql "),
    "devices": ("", "snmp-server user tacacs-server host username a "),
    "tokens": ("", "eyJ.AKIA_sk-"),
    "prefixes": ("", "a_b-"),
    "base64": ("", "cGFzc3dvcmQ9aHVudGVyMjIy"),
    "base64 words": ("", "cGFzc3dvcmQ9aHVudGVyMjIy "),
    "entities": ("", "&quot;"),
    "marks": ("", "<redacted:a:1f3a>"),
    "half marks": ("", "<redacted:"),
    "YAML block": ("secret: |\n", "  a\n"),
    "bytes": ("key[]={", "0x11, "),
    "nested JSON": ("", "["),
    "blanks": ("", " "),
    "line ends": ("", "\n"),
    "mentions": ("", "login "),
    "words that a password is": ("", "the password for core1 between a and b "),
    "table": ("host,password\n", "r1,abc123x\n"),
    "heads of tables": ("", "host,password\n"),
    "inserted rows": ("insert into t (a,password) values ", "('x','y'),"),
    "inserts": ("", "insert into t (a,password) values ("),
    "configuration": ("", "set system login user a "),
    "configuration in one line": ("set system ", "password "),
    "argument flags": ("", "-u root -p "),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_takes_at_most_three_times_as_long(shape: str) -> None:
    head, part = SHAPES[shape]

    def redact(size: int) -> None:
        REDACT(head + part * (size // len(part)))

    size = 8_000
    while seconds(redact, size) < 0.004 and size < 500_000:
        size *= 2
    assert growth(redact, size, 2 * size, most=3) <= 3


def test_text_that_holds_secrets_grows_linearly_too() -> None:
    def redact(count: int) -> None:
        REDACT("".join(f"user=u{n} password=hunt{n}er27x, the router answered.\n" for n in range(count)))

    assert growth(redact, 500, 1_000, most=3) <= 3
