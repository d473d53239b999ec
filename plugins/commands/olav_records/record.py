"""One decision, fact or preference, checked and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from olav_core import Draft, RecordError, clock

if TYPE_CHECKING:
    from olav_core import Memory, Remembered

#: Category -> the fields of its metadata that a person fills in.
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "decision": ("approver", "ticket", "why", "decided_on", "devices"),
    "fact": ("subject", "attribute", "value", "source"),
    "preference": ("user", "subject", "attribute", "value"),
}
#: What a change-control record may not lack, as `text` for what was decided.
NEEDED: Final = ("text", "approver")


def keep_decision(
    memory: Memory,
    what: str,
    *,
    approver: str,
    why: str = "",
    ticket: str = "",
    decided_on: str = "",
    devices: Sequence[str] = (),
    scope: str | None = None,
    tags: Sequence[str] = (),
    recorded_by: str = "",
) -> Remembered:
    """Write down what change control decided; `decided_on`: an ISO date, default today.

    By a person; with `recorded_by`, an agent's name, as something that an agent says. Raises RecordError that
    names the field.
    """
    values = {
        "approver": approver,
        "ticket": ticket,
        "why": why,
        "decided_on": decided_on,
        "devices": list(devices),
        "recorded_by": recorded_by,
    }
    origin = "audit" if recorded_by else "user"
    return _write(memory, draft("decision", what, values, origin=origin, scope=scope, tags=tags))


def keep_fact(
    memory: Memory,
    text: str,
    *,
    subject: str = "",
    attribute: str = "",
    value: str = "",
    source: str = "",
    scope: str | None = None,
    tags: Sequence[str] = (),
    origin: str = "user",
) -> Remembered:
    """Write down a fact; its outcome's `conflicts` tell which facts it superseded, or which stand against it.

    Of two facts of a scope with one subject and attribute and different values one is in force.
    """
    values = {"subject": subject, "attribute": attribute, "value": value, "source": source}
    return _write(memory, draft("fact", text, values, origin=origin, scope=scope, tags=tags))


def keep_preference(
    memory: Memory,
    text: str,
    *,
    user: str = "",
    subject: str = "",
    attribute: str = "",
    value: str = "",
    scope: str | None = None,
    tags: Sequence[str] = (),
    origin: str = "user",
) -> Remembered:
    """Write down how `user` wants things; conflicts as of a fact, each user's for itself."""
    values = {"user": user, "subject": subject, "attribute": attribute, "value": value}
    return _write(memory, draft("preference", text, values, origin=origin, scope=scope, tags=tags))


def draft(
    category: str,
    text: str,
    values: Mapping[str, Any],
    *,
    origin: str,
    scope: str | None = None,
    tags: Sequence[str] = (),
    time: str | None = None,
    line: int = 0,
) -> Draft:
    """Return the draft of a record; raises RecordError for a field that it may not lack."""
    metadata = {name: value for name, value in values.items() if value not in ("", [], None)}
    if category == "decision":
        for name in NEEDED:
            given = text if name == "text" else metadata.get(name, "")
            if not isinstance(given, str) or not given.strip():
                raise RecordError(
                    f"field {name!r} of a decision is missing. Say what was decided, and who approved."
                )
        metadata.setdefault("decided_on", clock.now().date().isoformat())
    if "attribute" in metadata and "subject" not in metadata:
        raise RecordError(
            f"field 'subject' is missing: whose {metadata['attribute']!r} is it? Give both, or neither."
        )
    return Draft(
        text=text,
        category=category,
        scope=scope,
        metadata=metadata,
        origin=origin,
        tags=tuple(tags),
        timestamp=time,
        line=line,
    )


def _write(memory: Memory, drafted: Draft) -> Remembered:
    (done,) = memory.write([memory.prepare(drafted)])
    if done.error is not None:
        raise done.error
    return done
