"""A later memory that contradicts an earlier one: the earlier is kept, marked and linked, never overwritten.

Categories say by `claims` what a memory claims, topic -> value. Of two memories of one category and scope
that give a topic different values one is in force: the later, but a person's word stands against an agent's
or a document's. Both change in one commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from attrs import evolve, field, frozen

from olav_core import clock
from olav_core.errors import RecordError
from olav_core.records import TRUSTED_ORIGINS, MemoryRecord

if TYPE_CHECKING:
    from olav_core.engine import Engine
    from olav_core.memory import Memory
    from olav_core.specs import CategorySpec
    from olav_core.store.store import Store
    from olav_core.writer import Remembered

SUPERSEDED: Final = "superseded"


@frozen(kw_only=True)
class Succession:
    """Metadata that a category needs whose memories can be superseded: inherit its class from this one.

    `superseded_by`: the memory in force instead, `superseded_at` since when (ISO 8601). `supersedes`: the
    memories that this one put out of force. `beside`: memories that a person said hold beside this one.
    """

    status: Literal["active", "superseded"] = "active"
    superseded_by: str = ""
    superseded_at: str = ""
    supersedes: list[str] = field(factory=list)
    beside: list[str] = field(factory=list)


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


def write(
    engine: Engine,
    store: Store,
    categories: Mapping[str, CategorySpec],
    records: Sequence[MemoryRecord],
    **options: Any,
) -> list[Remembered]:
    """Write records and what they put out of force, in one commit; an outcome for each record, in order."""
    settlement = Settlement(store, categories, records)
    changed = settlement.changed
    outcomes = engine.write([*settlement.records, *changed], **options)[: len(records)]
    if not settlement.conflicts:
        return outcomes
    back = [row for done in outcomes if done.error for row in settlement.as_they_stood(done.id)]
    if back:
        engine.write(back)
    return [evolve(done, conflicts=tuple(settlement.conflicts.get(done.id, ()))) for done in outcomes]


class Settlement:
    """What a batch of records does to one another and to what is stored. `changed`: rows to write beside."""

    def __init__(
        self, store: Store, categories: Mapping[str, CategorySpec], records: Sequence[MemoryRecord]
    ) -> None:
        self.records = list(records)
        self.conflicts: dict[str, list[Conflict]] = {}
        self._stored: dict[str, MemoryRecord] = {}
        self._now: dict[str, MemoryRecord] = {}
        self._categories = categories
        concerned = [record for record in self.records if self._claims(record)]
        if not concerned:
            return
        store.refresh()
        for category in {record.category for record in concerned}:
            scopes = sorted({record.scope for record in concerned if record.category == category})
            self._stored |= {row.id: row for row in store.list(category=category, scopes=scopes)}
        self._topics: dict[tuple[str, str, str], dict[str, str]] = {}
        for row in self._stored.values():
            self._file(row)
        for record in concerned:
            self._settle(record)
        self.records = [self._now.get(record.id, record) for record in self.records]

    @property
    def changed(self) -> list[MemoryRecord]:
        """Return the stored rows that are put out of force, or in force again."""
        own = {record.id for record in self.records}
        return [row for id, row in self._now.items() if id not in own]

    def as_they_stood(self, failed: str) -> list[MemoryRecord]:
        """Return the rows that a record put out of force, as they were before: it could not be written."""
        return [
            self._stored[conflict.id]
            for conflict in self.conflicts.get(failed, ())
            if conflict.id in self._stored
        ]

    def _claims(self, record: MemoryRecord) -> Mapping[str, str]:
        spec = self._categories.get(record.category)
        if spec is None or spec.claims is None or record.metadata.get("status", "active") != "active":
            return {}
        return spec.claims(record)

    def _file(self, row: MemoryRecord) -> None:
        for topic, value in self._claims(row).items():
            self._topics.setdefault((row.category, row.scope, topic), {})[row.id] = value

    def _settle(self, record: MemoryRecord) -> None:
        before = self._stored.get(record.id)
        if before is not None:  # said again: what it put out of force before stays so
            kept = {name: list(before.metadata.get(name) or ()) for name in ("supersedes", "beside")}
            record = evolve(record, metadata={**record.metadata, **kept})
        self._now[record.id] = record
        for other, conflict in list(self._others(record)):
            ours, theirs = _rank(record), _rank(other)
            stands = theirs > ours
            if stands and before is not None and before.metadata.get("superseded_by") == other.id:
                self._now[record.id] = before  # said again in vain
            else:
                self._leave_former(before)
                self._link(other, record) if stands else self._link(record, other)
            record = self._now[record.id]
            conflict = evolve(conflict, outcome="stands" if stands else SUPERSEDED)
            self.conflicts.setdefault(record.id, []).append(conflict)
            if stands:
                return
        self._leave_former(before)
        self._file(record)

    def _leave_former(self, before: MemoryRecord | None) -> None:
        """Unlink a memory that is said again from the one that superseded it."""
        former = str(before.metadata.get("superseded_by") or "") if before is not None else ""
        winner = self._now.get(former) or self._stored.get(former)
        if before is not None and winner is not None and before.id in winner.metadata.get("supersedes", ()):
            self._now[former] = _with(winner, supersedes=_without(winner, before.id))

    def _others(self, record: MemoryRecord) -> Iterator[tuple[MemoryRecord, Conflict]]:
        """Yield the memories in force that contradict `record`, each once."""
        seen = {record.id, *record.metadata.get("beside", ())}
        for topic, ours in self._claims(record).items():
            for id, theirs in self._topics.get((record.category, record.scope, topic), {}).items():
                other = self._now.get(id) or self._stored.get(id)
                if id in seen or theirs == ours or other is None:
                    continue
                if other.metadata.get("status") == SUPERSEDED or record.id in other.metadata.get(
                    "beside", ()
                ):
                    continue
                seen.add(id)
                yield (
                    other,
                    Conflict(
                        id=id, text=other.text, topic=topic, ours=ours, theirs=theirs, outcome=SUPERSEDED
                    ),
                )

    def _link(self, winner: MemoryRecord, loser: MemoryRecord) -> None:
        for row in linked(winner, loser):
            self._now[row.id] = indexed(row, self._categories[row.category])


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
        ),
    )


def indexed(record: MemoryRecord, spec: CategorySpec) -> MemoryRecord:
    """Return the record with what it is found by: a superseded one by nothing but its id. A value that
    changes often would else fill its category's places among the candidates with what is out of force."""
    superseded = record.metadata.get("status") == SUPERSEDED
    return evolve(record, search_text=record.id if superseded else spec.embed_text(record))


def reinstate(memory: Memory, id: str, *, beside: bool = False) -> list[Remembered]:
    """Put a superseded memory in force again; what superseded it goes out of force, or stays with `beside`.

    Raises RecordError when it is in force, UnknownIdError when there is none.
    """
    row = memory.get(id)
    if row.metadata.get("status") != SUPERSEDED or memory.categories[row.category].claims is None:
        raise RecordError(
            f"{row.id} is not superseded, so there is nothing to undo. `olav kb show {row.id}`."
        )
    other = memory.store.get(str(row.metadata.get("superseded_by") or ""))
    if other is None:  # it was forgotten meanwhile
        rows = [_with(row, status="active", superseded_by="", superseded_at="")]
    elif beside:
        rows = [
            _with(
                row,
                status="active",
                superseded_by="",
                superseded_at="",
                beside=_added(row, "beside", other.id),
            ),
            _with(other, supersedes=_without(other, row.id), beside=_added(other, "beside", row.id)),
        ]
    else:
        rows = list(linked(row, other))
    spec = memory.categories[row.category]
    return memory.write([indexed(changed, spec) for changed in rows], settle=False)


def _rank(record: MemoryRecord) -> tuple[bool, Any]:
    return record.origin in TRUSTED_ORIGINS, record.timestamp


def _with(record: MemoryRecord, **changes: Any) -> MemoryRecord:
    return evolve(record, metadata={**record.metadata, **changes})


def _added(record: MemoryRecord, name: str, id: str) -> list[str]:
    return list(dict.fromkeys([*record.metadata.get(name, ()), id]))


def _without(record: MemoryRecord, id: str) -> list[str]:
    return [other for other in record.metadata.get("supersedes", ()) if other != id]
