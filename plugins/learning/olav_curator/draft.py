"""A proposal that waits for a person's word: what exactly would be written, and where."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any, Final

import attrs
from attrs import frozen

from olav_core import RecordError, check_scope

#: Of a file's name in UTF-8, with what is added to it, below the 255 bytes of file systems.
MAX_NAME_BYTES: Final = 180
#: Category -> (folder below the agent's, suffix). The importer of that suffix makes the rows.
PLACES: Final = {
    "usage_guide": ("guides", ".guide.yaml"),
    "document": ("documents", ".md"),
    "topology": ("topology", ".mmd"),
}
_DIAGRAM_SUFFIX: Final = (
    (re.compile(r"\A\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<svg\b", re.DOTALL | re.IGNORECASE), ".svg"),
    (re.compile(r"\A\s*(?:strict\s+)?(?:di)?graph\b[^\n{]*\{", re.IGNORECASE), ".dot"),
)


@frozen(kw_only=True)
class MemoryDraft:
    """One proposal. `content` is the file that a commit writes, byte for byte; `path` is where, from
    the workspace on. `turn`: the conversation's turn in which it was proposed. `replaces`: sha256 of the file
    that stood there then, empty when there was none.
    """

    intent: str
    agent: str
    scope: str
    category: str
    keywords: tuple[str, ...]
    body: str
    path: str
    content: str
    created_at: str
    expires_at: str
    turn: str = ""
    replaces: str = ""

    @property
    def hash(self) -> str:
        """sha256 over everything that a commit would write, and when and where it was proposed."""
        values = json.dumps(attrs.asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(values.encode("utf-8", "surrogatepass")).hexdigest()

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
            values["keywords"] = tuple(values["keywords"])
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


def place_of(category: str, agent: str, intent: str, body: str) -> PurePosixPath:
    """Return the file of a draft relative to the workspace, or raise RecordError for the category."""
    if category not in PLACES:
        raise RecordError(f"A conversation may not write {category!r}. Use one of: {', '.join(PLACES)}.")
    folder, suffix = PLACES[category]
    if category == "topology":
        suffix = next((name for pattern, name in _DIAGRAM_SUFFIX if pattern.match(body)), suffix)
    return PurePosixPath(agent, folder, f"{intent}{suffix}")


def content_of(
    category: str, *, intent: str, agent: str, scope: str, keywords: Sequence[str], body: str
) -> str:
    """Return the text of the file: YAML for a guide, the body itself for a document or a diagram."""
    if category != "usage_guide":
        return body
    return to_yaml(
        {
            "schema_version": 1,
            "intent": intent,
            "agent": agent,
            "scope": scope,
            "authority": "user",
            "keywords": list(keywords),
            "body": body,
        }
    )


def preview_of(draft: MemoryDraft) -> str:
    """Return what the person is shown: the guide's file itself, else where it goes and all of it."""
    if draft.category == "usage_guide":
        return draft.content
    return to_yaml(
        {
            "intent": draft.intent,
            "agent": draft.agent,
            "scope": draft.scope,
            "category": draft.category,
            "file": draft.path,
            "body": draft.body,
        }
    )


def to_yaml(values: dict[str, Any]) -> str:
    """Return readable YAML, several lines as a block, which reads back to the same values."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    made: str = yaml.dump(values, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=100)
    return made


def times(now: datetime, hours: float) -> tuple[str, str]:
    return now.isoformat(), (now + timedelta(hours=hours)).isoformat()


def checked(intent: str, agent: str, scope: str | None) -> str:
    """Check the names of a draft and return its scope (default: the agent's, `global` for `core`)."""
    check_name(intent, "intent")
    check_name(agent, "agent")
    return check_scope(scope if scope is not None else "global" if agent == "core" else agent)
