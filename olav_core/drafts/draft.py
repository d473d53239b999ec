"""A proposal that waits for a person's word: what exactly would be written, and where."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import attrs
from attrs import frozen

from olav_core.errors import RecordError

#: Of a file's name in UTF-8, with what is added to it, below the 255 bytes of file systems.
MAX_NAME_BYTES: Final = 180


@frozen(kw_only=True)
class MemoryDraft:
    """One proposal: a file (`path`, `content`) that its importer turns into rows, or the `rows` themselves.

    `content` is what a commit writes, byte for byte; `path` is where, from the workspace on. `rows` hold the
    fields of olav_core.Draft, as JSON. `proposer`: who proposes (`curator`, `patterns` …), `reason`: why, for
    the person. `turn`: the conversation's turn in which it was proposed. `replaces`: sha256 of what stood
    there then, empty when there was nothing.
    """

    intent: str
    agent: str
    scope: str
    category: str
    keywords: tuple[str, ...] = ()
    body: str
    path: str = ""
    content: str = ""
    rows: tuple[Mapping[str, Any], ...] = ()
    proposer: str = "curator"
    reason: str = ""
    created_at: str
    expires_at: str
    turn: str = ""
    replaces: str = ""

    @property
    def hash(self) -> str:
        """sha256 over everything that a commit would write, and when and where it was proposed."""
        return _sha256(attrs.asdict(self))

    @property
    def essence(self) -> str:
        """sha256 over what a person reads: the same proposal made again has the same."""
        rows = [{name: row.get(name) for name in ("category", "scope", "text")} for row in self.rows]
        return _sha256([self.category, self.scope, self.path, self.content, rows])

    def expired(self, now: datetime) -> bool:
        return now >= datetime.fromisoformat(self.expires_at)

    def to_json(self) -> str:
        values = {"version": 1, **attrs.asdict(self), "hash": self.hash}
        return json.dumps(values, ensure_ascii=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, raw: str, *, name: str) -> MemoryDraft:
        """Return the draft of a file; raises RecordError when it is none, or not as it was proposed."""
        try:
            values: dict[str, Any] = json.loads(raw)
            told = values.pop("hash")
            values.pop("version")
            for field in ("keywords", "rows"):
                values[field] = tuple(values[field])
            draft = cls(**values)
            check_name(draft.intent, "intent")
            intact = draft.hash == told
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise RecordError(f"{name} is no draft ({error!r}). `olav drafts reject` removes it.") from None
        if not intact:
            raise RecordError(
                f"{name} was changed after it was proposed: nobody has seen what it holds. Propose it again."
            )
        return draft


def check_name(value: object, what: str) -> str:
    """Return a name that is safe as a file's or folder's, or raise RecordError."""
    if not isinstance(value, str) or not value or value != value.strip():
        raise RecordError(f"{what} {value!r} must be a name without blanks at its edges.")
    if value.startswith((".", "-", "~")) or any(c in '/\\:*?"<>|' or not c.isprintable() for c in value):
        raise RecordError(
            f"{what} {value!r} names files: no slash, backslash, colon, wildcard, quote, leading dot or dash."
        )
    if len(value.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        raise RecordError(f"{what} is longer than {MAX_NAME_BYTES} bytes. Choose a short name.")
    return value


def name_for(value: str) -> str:
    """Return a safe name for any text, the text itself where it is one; different texts stay different."""
    try:
        return check_name(value, "intent")
    except RecordError:
        kept = "".join(c if c.isalnum() or c in "_-." else "-" for c in value).strip("-. ")[:50]
        return f"{kept or 'draft'}-{_sha256(value)[:8]}"


def times(now: datetime, hours: float) -> tuple[str, str]:
    return now.isoformat(), (now + timedelta(hours=hours)).isoformat()


def _sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
