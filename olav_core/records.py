"""A memory: one row of the table, as values."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import field, frozen

from olav_core import clock
from olav_core.errors import RecordError

GLOBAL_SCOPE = "global"
ORIGINS = ("agent", "document", "user", "audit", "directive")
#: Origins whose text a person of the team wrote or vouched for; the others are rendered as data.
TRUSTED_ORIGINS = frozenset({"directive", "user"})
MAX_TEXT_CHARS = 1_000_000
MAX_SCOPE_CHARS = 256
MAX_TAGS = 64

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: What a terminal would obey; a newline is only an odd name.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@frozen(kw_only=True)
class MemoryRecord:
    """One memory as stored (its vector stays in the store).

    `text` is what is shown; `search_text` is what is embedded and indexed. `metadata` has been
    validated by its category's metadata class. Times are UTC.
    """

    id: str
    text: str
    category: str
    scope: str = GLOBAL_SCOPE
    search_text: str = ""
    metadata: Mapping[str, Any] = field(factory=dict)
    origin: str = "user"
    confidence: float = 1.0
    tags: tuple[str, ...] = ()
    timestamp: datetime = field(factory=lambda: clock.now())
    created_at: datetime = field(factory=lambda: clock.now())
    access_count: int = 0
    expires_at: datetime | None = None


def memory_id(category: str, scope: str | None, dedupe_key: str) -> str:
    """Return the deterministic id `<category>:<32 hex>`.

    The hash is sha256 over the length-prefixed scope and dedupe key, cut to 128 bits: two
    different pairs never share a pre-image. `scope=None` is for categories that are global by nature.
    """
    digest = hashlib.sha256()
    for part in (scope or "", dedupe_key):
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return f"{category}:{digest.hexdigest()[:32]}"


def clean_text(text: str) -> str:
    """Return `text` as the engine can hold it: control characters dropped, lone surrogates as U+FFFD."""
    return _CONTROL.sub("", _SURROGATE.sub("\ufffd", text))


def is_blank(text: str) -> bool:
    """Whether nothing of `text` can be seen: blanks, control and format characters, such as a lone U+200B."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf") for char in text)


def check_text(text: object, *, what: str = "text") -> str:
    """Return the cleaned text or raise RecordError: not a string, blank, or over MAX_TEXT_CHARS."""
    if not isinstance(text, str):
        raise RecordError(f"{what} must be a string, not {type(text).__name__}. Pass the text itself.")
    if len(text) > MAX_TEXT_CHARS:
        raise RecordError(
            f"{what} has {len(text):,} characters, the limit is {MAX_TEXT_CHARS:,}. "
            "Split it, or import it as a document so that it is cut into chunks."
        )
    cleaned = clean_text(text)
    if is_blank(cleaned):
        raise RecordError(f"{what} is blank. Give at least one visible character.")
    return cleaned


def check_scope(scope: object) -> str:
    """Return the scope or raise RecordError: a non-empty string without edge blanks or control characters."""
    if not isinstance(scope, str) or not scope.strip():
        raise RecordError("scope must be a non-empty string: 'global', an agent's name, or 'team:<id>'.")
    if (
        scope != scope.strip()
        or _SURROGATE.search(scope)
        or _OBEYED.search(scope)
        or len(scope) > MAX_SCOPE_CHARS
    ):
        raise RecordError(
            f"scope {scope!r} has blanks at its edges, a control character or lone surrogate, "
            f"or more than {MAX_SCOPE_CHARS} characters. Give a clean name."
        )
    if scope == "team:":
        raise RecordError("scope 'team:' names no team. Write 'team:<id>'.")
    return scope


def check_tags(tags: object) -> tuple[str, ...]:
    """Return the tags as a tuple of clean strings or raise RecordError."""
    if isinstance(tags, str) or not isinstance(tags, (list, tuple, set, frozenset)):
        raise RecordError(f"tags must be a list of strings, not {type(tags).__name__}.")
    items = sorted(tags, key=str) if isinstance(tags, (set, frozenset)) else list(tags)
    if len(items) > MAX_TAGS:
        raise RecordError(f"{len(items)} tags, the limit is {MAX_TAGS}. Keep the ones people search for.")
    for tag in items:
        if not isinstance(tag, str) or is_blank(tag):
            raise RecordError(f"tag {tag!r} is not a non-empty string.")
    return tuple(dict.fromkeys(clean_text(tag) for tag in items))
