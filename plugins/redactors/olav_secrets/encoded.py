"""Secrets in base64: what a run of it decodes to is read like any other text."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator

from olav_secrets.span import Span

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}")
_HEX = re.compile(r"[0-9a-fA-F-]+\Z")
_SAME_CASE = re.compile(r"[a-z_/-]+\Z|[A-Z_/-]+\Z")
_UNLIKELY = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffd]")
_URLSAFE = str.maketrans("+/", "-_")


def decoded(run: str) -> str | None:
    """Return the text that `run` wraps, or None when it wraps none."""
    if _HEX.match(run) or _SAME_CASE.match(run):
        return None
    body = run.rstrip("=").translate(_URLSAFE)
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        # the first bytes tell most runs apart, before anything long is decoded
        if _UNLIKELY.search(urlsafe_b64decode(body[:16]).decode("utf-8", "replace")[:9]):
            return None
        text = urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode("utf-8")
    except ValueError:
        return None
    return None if _UNLIKELY.search(text) else text


def find(text: str, find_inside: Callable[[str], list[Span]]) -> Iterator[Span]:
    """Yield the runs whose text holds a secret by `find_inside`, which is asked once for each run."""
    for run in _RUN.finditer(text):
        inner = decoded(run[0])
        if inner and (spans := find_inside(inner)):
            yield Span(run.start(), run.end(), spans[0].kind)
