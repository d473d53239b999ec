"""Private keys: PEM, OpenSSH and PGP blocks whole, cut off or quoted in code; bare DER; JWK; PuTTY."""

from __future__ import annotations

import re
from collections.abc import Iterator

from olav_secrets.rule import Table, rule
from olav_secrets.shadow import View
from olav_secrets.span import Span

_EDGE = re.compile(r"-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
#: No block is longer: a post-quantum key has about 20,000 characters, code and logs may decorate each line.
_LONGEST = 100_000
#: The body of a block without its end: chunks of base64 with quotes, escapes and header lines between.
_BODY = re.compile(
    r"""(?:(?:\\{1,4}[nrt]|[\s"'`+,*\#>|\\])*+
        (?:[A-Za-z0-9+/=]{20,}+|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)[ ]?:[^\n\\]{0,120}+))*+
        (?:(?:\\{1,4}[nr]|\n)[ \t"']{0,20}[A-Za-z0-9+/=]{1,63}(?![\w ]))?""",
    re.VERBOSE,
)
_LINE = re.compile(r"[\s\"'`+,*#>|/\\]*(?:[A-Za-z0-9+/=]{16,})[\s\"'`+,;\\nr]*\Z")

_TABLE = Table([
    rule("private_key", "MII MIG MHcCAQ MC4CAQ MFECAQ MHgCAQ b3BlbnNzaC1rZXkt",
         r"(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{3}IBAA|MI[IG][A-Za-z0-9+/]{1,3}(?:IBADA|AgEAM|CAQAw|TB[XPw]Bgkqh)|MI[IG]\w{3}TB[A-Za-z]Bgkqhki|MHcCAQEE|MC4CAQAw|MFECAQEw|MHgCAQEE|b3BlbnNzaC1rZXkt)"
         r"""(?:[A-Za-z0-9+/=]|\\{1,4}[nr]|[\s"'+]|&\#xA;)*+"""),
    rule("private_key", "Private-Lines:", r"Private-Lines:[ ]\d+\s+(?P<v>(?:[A-Za-z0-9+/=]{1,70}\s*+)++)"),
    rule("private_key", "RSAKeyValue", r"<(?:D|P|Q|DP|DQ|InverseQ)>(?P<v>[A-Za-z0-9+/=\s]{8,}+)</"),
])  # fmt: skip


#: A JSON object without objects inside.
_FLAT = re.compile(r"\{[^{}]{20,10000}+\}")
_PRIVATE_MEMBER = re.compile(r"""(?P<q>\\{0,4}["'])(?:d|k)(?P=q)\s{0,9}:\s{0,9}(?P=q)[\w=-]{12,}""")


def find(view: View) -> Iterator[Span]:
    text = view.text
    if "PRIVATE KEY" in text:
        yield from _blocks(text)
    if "kty" in text:  # a private JSON web key goes whole, like a PEM block
        for flat in _FLAT.finditer(text):
            if "kty" in flat[0] and _PRIVATE_MEMBER.search(flat[0]):
                yield Span(*flat.span(), "jwk", quote=True)
    yield from _TABLE.find(view)


def _blocks(text: str) -> Iterator[Span]:
    edges = list(_EDGE.finditer(text))
    done = 0
    for index, edge in enumerate(edges):
        if edge.start() < done:
            continue
        if edge[1] == "END":
            start = _tail_start(text, done, edge.start())
            if start < edge.start():
                yield Span(start, edge.end(), "private_key")
            done = edge.end()
            continue
        following = edges[index + 1] if index + 1 < len(edges) else None
        if following and following[1] == "END" and following.start() - edge.end() <= _LONGEST:
            done = following.end()
        else:
            body = _BODY.match(text, edge.end())
            done = body.end() if body else edge.end()
        yield Span(edge.start(), done, "private_key")


def _tail_start(text: str, floor: int, end: int) -> int:
    """Return where the body of a block begins whose first line is lost: walk back over base64 lines."""
    start = end
    while start > floor:
        line = max(text.rfind("\n", floor, start - 1) + 1, floor)
        if not _LINE.match(text[line:start]) or start - line > 400:
            break
        start = line
    return start
