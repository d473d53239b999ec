"""A later memory that contradicts an earlier one: the earlier is kept, marked and linked, never overwritten.

Categories say by `claims` what a memory claims, topic -> value. Of two memories of one category and scope
that give a topic different values one is in force: the later, but a person's word stands against an agent's
or a document's. Both change in one commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from attrs import evolve, field, frozen

from olav_core import clock
from olav_core.errors import RecordError
from olav_core.records import TRUSTED_ORIGINS, MemoryRecord

if TYPE_CHECKING:
    from olav_core.specs import CategorySpec
    from olav_core.topics import Topic, Topics

SUPERSEDED: Final = "superseded"


@frozen(kw_only=True)
class Succession:
    """Metadata that a category needs whose memories can be superseded: inherit its class from this one.

    `superseded_by`: the memory in force instead, `superseded_at` since when (ISO 8601). `supersedes`: the
    memories that this one put out of force. `beside`: memories that a person said hold beside this one.
    `vouched_at`: when a person put it in force, or said what an agent repeats now (ISO 8601).
    """

    status: Literal["active", "superseded"] = "active"
    superseded_by: str = ""
    superseded_at: str = ""
    supersedes: list[str] = field(factory=list)
    beside: list[str] = field(factory=list)
    vouched_at: str = ""


@frozen(kw_only=True)
class Conflict:
    """Another memory that says otherwise about `topic`: `ours` is what the written one says, `theirs` what
    that one does. `outcome`: "superseded" (that one is out of force now) or "stands" (the written one is)."""

    id: str
    text: str
    topic: str
    ours: str
    theirs: str
    outcome: Literal["superseded", "stands"]


class Settlement:
    """What records do to one another and to what is stored, worked out and not written.

    Whoever writes it holds the store's lock from here on; `rows` are written in one commit.
    """

    def __init__(self, topics: Topics, records: Sequence[MemoryRecord] = ()) -> None:
        self.conflicts: dict[str, list[Conflict]] = {}
        self._topics = topics
        self._store = topics.store
        self._read: dict[str, MemoryRecord | None] = {}
        self._now: dict[str, MemoryRecord] = {}
        self._own: dict[Topic, list[str]] = {}  # those of `_now` that were in force at some time
        topics.sync()
        claimed = [topic for record in records for topic in topics.claims(record)]
        self._load([*(record.id for record in records), *topics.ids(claimed)])
        for record in records:
            if topics.claims(record):
                self._settle(record)
            else:
                self._put(record)

    @property
    def rows(self) -> list[MemoryRecord]:
        """Return the records as they are to be written, then what they put out of force or in force again."""
        return list(self._now.values())

    def reinstate(self, id: str, *, beside: bool) -> None:
        """Put a superseded memory in force, above or `beside` all that contradicts it. Raises RecordError."""
        before = self._row(id)
        spec = None if before is None else self._topics.categories.get(before.category)
        if before is None or spec is None or spec.claims is None or not _superseded(before):
            raise RecordError(f"{id} is not superseded, so there is nothing to undo. `olav kb show {id}`.")
        row = _with(_in_force(before), vouched_at=clock.now().isoformat())
        self._put(row)
        others = [other.id for other, _ in self._others(row)]
        former = self._row(str(before.metadata.get("superseded_by") or ""))
        if former is not None and former.id not in others and not _superseded(former):
            others.append(former.id)
        self._leave_former(before)
        for other in others:
            pair = self._now[id], self._there(other)
            for changed in _side_by_side(*pair) if beside else linked(*pair):
                self._put(changed)

    def release(self, gone: MemoryRecord) -> None:
        """Let go of what a deleted memory superseded: it is in force again unless another contradicts it."""
        self._leave_former(gone)
        lesser = [self._row(id) for id in gone.metadata.get("supersedes") or ()]
        freed = [row for row in lesser if row is not None and row.metadata.get("superseded_by") == gone.id]
        for row in sorted(freed, key=_rank, reverse=True):
            back = _in_force(row)
            others = [other for other, _ in self._others(back)]
            for changed in linked(max(others, key=_rank), row) if others else (back,):
                self._put(changed)

    def _settle(self, record: MemoryRecord) -> None:
        before = self._row(record.id)
        if before is not None:
            record = _said_again(record, before)
        against = list(self._others(record))
        stronger = [(other, conflict) for other, conflict in against if _rank(other) > _rank(record)]
        if against:
            outcome: Literal["superseded", "stands"] = "stands" if stronger else SUPERSEDED
            told = [evolve(conflict, outcome=outcome) for _, conflict in stronger or against]
            self.conflicts[record.id] = told
        if before is not None and before.metadata.get("superseded_by") in [other.id for other, _ in stronger]:
            self._put(before)  # said again in vain
            return
        self._put(record)
        self._leave_former(before)
        if stronger:  # what it would have put out of force stays
            winner = max((other for other, _ in stronger), key=_rank)
            pairs = [(winner.id, record.id)]
        else:
            pairs = [(record.id, other.id) for other, _ in against]
        for winner_id, loser_id in pairs:
            for changed in linked(self._there(winner_id), self._there(loser_id)):
                self._put(changed)

    def _leave_former(self, before: MemoryRecord | None) -> None:
        """Unlink a memory from the one that superseded it."""
        former = self._row(str(before.metadata.get("superseded_by") or "")) if before is not None else None
        if before is not None and former is not None and before.id in former.metadata.get("supersedes", ()):
            self._put(_with(former, supersedes=_without(former, before.id)))

    def _others(self, record: MemoryRecord) -> Iterator[tuple[MemoryRecord, Conflict]]:
        """Yield the memories in force that contradict `record`, each once."""
        claims = self._topics.claims(record)
        own = [id for topic in claims for id in self._own.get(topic, ())]
        for id in dict.fromkeys([*own, *sorted(self._topics.ids(claims))]):
            other = self._row(id)
            if other is None or id == record.id or _beside(record, other):
                continue
            theirs = self._topics.claims(other)
            for topic, ours in claims.items():
                if theirs.get(topic, ours) != ours:
                    yield (
                        other,
                        Conflict(
                            id=id,
                            text=other.text,
                            topic=topic.name,
                            ours=ours,
                            theirs=theirs[topic],
                            outcome=SUPERSEDED,
                        ),
                    )
                    break

    def _put(self, row: MemoryRecord) -> None:
        spec = self._topics.categories.get(row.category)
        row = row if spec is None else indexed(row, spec)
        self._now[row.id] = row
        for topic in self._topics.claims(row):
            self._own.setdefault(topic, []).append(row.id)

    def _there(self, id: str) -> MemoryRecord:
        row = self._row(id)
        assert row is not None  # read before
        return row

    def _row(self, id: str) -> MemoryRecord | None:
        """Return a memory as it is now, None when there is none."""
        if id in self._now or not id:
            return self._now.get(id)
        self._load([id])
        return self._read[id]

    def _load(self, ids: Sequence[str]) -> None:
        unread = [id for id in ids if id not in self._read]
        if unread:
            self._read |= dict.fromkeys(unread) | self._store.existing(unread)


def linked(winner: MemoryRecord, loser: MemoryRecord) -> tuple[MemoryRecord, MemoryRecord]:
    """Return both with `winner` in force and `loser` superseded by it."""
    mine = [id for id in winner.metadata.get("supersedes", ()) if id != loser.id]
    theirs = [id for id in loser.metadata.get("supersedes", ()) if id != winner.id]
    return (
        _with(winner, status="active", superseded_by="", superseded_at="", supersedes=[*mine, loser.id]),
        _with(
            loser,
            status=SUPERSEDED,
            superseded_by=winner.id,
            superseded_at=clock.now().isoformat(timespec="seconds"),
            supersedes=theirs,
            vouched_at="",
        ),
    )


def indexed(record: MemoryRecord, spec: CategorySpec) -> MemoryRecord:
    """Return the record with what it is found by: a superseded one by nothing but its id. A value that
    changes often would else fill its category's places among the candidates with what is out of force."""
    superseded = record.metadata.get("status") == SUPERSEDED
    return evolve(record, search_text=record.id if superseded else spec.embed_text(record))


def _rank(record: MemoryRecord) -> tuple[bool, datetime]:
    """Return what decides between two: a person's word or not, and when it was given."""
    words = [record.timestamp] if record.origin in TRUSTED_ORIGINS else []
    if vouched := _time(record.metadata.get("vouched_at")):
        words.append(vouched)
    return (True, max(words)) if words else (False, record.timestamp)


def _time(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value or ""))
    except ValueError:  # somebody's own JSON
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _said_again(record: MemoryRecord, before: MemoryRecord) -> MemoryRecord:
    """Return the record with what the stored one has by its past: what it put out of force stays so, and a
    person's word stays one when an agent or a document repeats it."""
    kept: dict[str, Any] = {name: list(before.metadata.get(name) or ()) for name in ("supersedes", "beside")}
    trusted, given = _rank(before)
    if trusted and not _superseded(before) and not _rank(record)[0]:
        kept["vouched_at"] = given.isoformat()
    return _with(record, **kept)


def _superseded(record: MemoryRecord) -> bool:
    return bool(record.metadata.get("status") == SUPERSEDED)


def _in_force(record: MemoryRecord) -> MemoryRecord:
    return _with(record, status="active", superseded_by="", superseded_at="")


def _beside(one: MemoryRecord, other: MemoryRecord) -> bool:
    return other.id in one.metadata.get("beside", ()) or one.id in other.metadata.get("beside", ())


def _side_by_side(one: MemoryRecord, other: MemoryRecord) -> tuple[MemoryRecord, MemoryRecord]:
    return (
        _with(one, beside=_added(one, "beside", other.id)),
        _with(other, beside=_added(other, "beside", one.id)),
    )


def _with(record: MemoryRecord, **changes: Any) -> MemoryRecord:
    return evolve(record, metadata={**record.metadata, **changes})


def _added(record: MemoryRecord, name: str, id: str) -> list[str]:
    return list(dict.fromkeys([*record.metadata.get(name, ()), id]))


def _without(record: MemoryRecord, id: str) -> list[str]:
    return [other for other in record.metadata.get("supersedes", ()) if other != id]
