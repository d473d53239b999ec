"""The write path: draft -> checked, redacted record -> vector -> store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from olav_core import clock
from olav_core.errors import ErasedTextError, OlavError, RecordError, did_you_mean
from olav_core.host.metadata import check_size, structure
from olav_core.recall.render import strip_block
from olav_core.records import MemoryRecord, check_tags, check_text, memory_id
from olav_core.specs import CategorySpec, Draft
from olav_core.store.tombstones import text_hash
from olav_core.succession import Conflict, Settlement
from olav_core.topics import Topics

if TYPE_CHECKING:
    from olav_core.embedding.handle import EmbedderHandle
    from olav_core.host.registry import Registry
    from olav_core.store.store import Store
    from olav_core.store.upsert import Written

Progress = Callable[[int, int], None]


@frozen(kw_only=True)
class Remembered:
    """The outcome of writing one memory: its id, whether it is new, whether anything changed, or the error
    that kept it out. `conflicts`: other memories that say otherwise, and which of both is in force."""

    id: str
    created: bool = False
    changed: bool = False
    error: OlavError | None = None
    conflicts: tuple[Conflict, ...] = ()


def as_time(value: Any, what: str) -> datetime | None:
    """Return a UTC time from a datetime or an ISO 8601 string (no zone: UTC) or raise RecordError."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise RecordError(
                f"{what} {value!r} is not an ISO 8601 time such as 2026-04-29T08:00:00Z."
            ) from None
    if not isinstance(value, datetime):
        raise RecordError(f"{what} must be a datetime or an ISO 8601 string, not {type(value).__name__}.")
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise RecordError(f"{what} {value} lies outside of the years 1 to 9999 in UTC.") from None


class Writer:
    """Turns drafts into rows. Thread-safe: it keeps no state of its own."""

    def __init__(
        self,
        store: Store,
        embedder: EmbedderHandle,
        registry: Registry,
        categories: Mapping[str, CategorySpec],
        check_space: Callable[[], None],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._registry = registry
        self._categories = categories
        self._check_space = check_space
        self._topics = Topics(store, categories)

    def prepare(self, draft: Draft) -> MemoryRecord:
        """Return the record that `draft` becomes, checked and redacted; nothing is written.

        Raises UnknownIdError (category) or RecordError (text, origin, scope, tags, metadata, times).
        """
        if not isinstance(draft, Draft):
            raise RecordError(f"a memory is given as a Draft, not as {type(draft).__name__}.")
        spec = self._registry.category(draft.category)
        spec = self._categories.get(spec.id, spec)
        if not isinstance(draft.origin, str) or not isinstance(draft.metadata, Mapping):
            raise RecordError(
                f"origin must be a string and metadata a mapping, not {draft.origin!r} "
                f"and {type(draft.metadata).__name__}."
            )
        if draft.origin not in spec.origins:
            raise RecordError(
                f"origin {draft.origin!r} may not write {spec.id}.{did_you_mean(draft.origin, spec.origins)}"
            )
        confidence = draft.confidence
        if (
            isinstance(confidence, bool)
            or not isinstance(confidence, (int, float))
            or not 0 <= confidence <= 1
        ):
            raise RecordError(f"confidence must be a number from 0 to 1, not {confidence!r}.")
        check_size(draft.metadata)
        text, _ = self._registry.redact(strip_block(check_text(draft.text)))
        metadata, _ = self._registry.redact(dict(draft.metadata))
        timestamp = as_time(draft.timestamp, "timestamp") or clock.now()
        expires_at = as_time(draft.expires_at, "expires_at")
        if expires_at is None and spec.ttl is not None:
            try:
                expires_at = timestamp + spec.ttl
            except OverflowError:
                expires_at = None  # beyond the last year that a time can name
        scope = spec.default_scope if spec.global_scope or draft.scope is None else draft.scope
        record = MemoryRecord(
            id="",
            text=check_text(text),
            category=spec.id,
            scope=self._registry.public_scope(scope),
            metadata=structure(spec, metadata),
            origin=draft.origin,
            confidence=float(confidence),
            tags=check_tags(self._registry.redact(list(check_tags(draft.tags)))[0]),
            timestamp=timestamp,
            created_at=clock.now(),
            expires_at=expires_at,
        )
        try:
            search_text, key = spec.embed_text(record), spec.dedupe_key(record)
            identifier = memory_id(spec.id, None if spec.global_scope else record.scope, key)
        except Exception as error:
            raise RecordError(
                f"category {spec.id!r} failed on this memory in embed_text or dedupe_key: {error!r}. "
                "The mend is in its plug-in: `olav plugins`."
            ) from error
        return evolve(record, id=identifier, search_text=check_text(search_text, what="search text"))

    def write(
        self,
        records: Sequence[MemoryRecord],
        *,
        vectors_from: Mapping[str, str] | None = None,
        vectors: Mapping[str, Any] | None = None,
        revive: bool = False,
        settle: bool = False,
        whole: bool = False,
        on_progress: Progress | None = None,
    ) -> list[Remembered]:
        """Write prepared records, one outcome each, in order. Only texts that are new are embedded.

        `vectors_from` maps a new id to the stored row whose vector it may take over (a row that moves to
        another scope); `vectors` gives some by id, of the store's own space. With `settle`, what the records
        contradict goes out of force in the same commit. A record whose text was erased, or which the embedder
        refuses, carries its error; the others are written, with `whole` none. Raises
        EmbedderUnavailableError before anything is written.
        """
        space = self._store.fingerprint  # before the check: vectors of the checked space, or refused
        known = dict(vectors or {})
        if any(record.id not in known for record in records):
            self._check_space()
        outcomes: dict[str, Remembered] = {}
        latest = {record.id: record for record in records}  # the last word on an id counts
        unique = list(latest.values())
        if not revive:
            unique = self._without_erased(unique, outcomes)
        unique = self._without_written(unique, outcomes)
        unknown = [record for record in unique if record.id not in known]
        known |= self._stored_vectors(unknown, vectors_from or {})
        fresh = [record for record in unknown if record.id not in known]
        if fresh:
            texts = [record.search_text for record in fresh]
            embedded = self._embedder.passages_each(texts, on_progress=on_progress)
            for record, vector in zip(fresh, embedded, strict=True):
                if isinstance(vector, OlavError):
                    outcomes[record.id] = Remembered(id=record.id, error=vector)
                else:
                    known[record.id] = vector
        ready = [record for record in unique if record.id in known]
        if whole and any(done.error for done in outcomes.values()):
            ready = []
        if ready:
            conflicts: dict[str, list[Conflict]] = {}

            def plan() -> list[MemoryRecord]:
                settlement = Settlement(self._topics, ready)
                conflicts.clear()
                conflicts.update(settlement.conflicts)
                return settlement.rows

            if settle and any(map(self._topics.claims, ready)):
                by_text = {record.search_text: known[record.id] for record in ready}
                written = self._commit(plan, by_text, space)
            else:
                written = self._upsert(ready, [known[record.id] for record in ready], space)
            own = {record.id for record in ready}
            for done in written:
                if done.id in own:
                    outcomes[done.id] = Remembered(
                        id=done.id,
                        created=done.created,
                        changed=done.changed,
                        conflicts=tuple(conflicts.get(done.id, ())),
                    )
            if revive:
                self._store.revive(text_hash(record.text) for record in ready)
        seen: set[str] = set()
        results = []
        for record in records:  # a memory that a batch holds twice is written once
            outcome = outcomes.get(record.id) or Remembered(id=record.id)
            again = record.id in seen and outcome.error is None
            results.append(Remembered(id=record.id) if again else outcome)
            seen.add(record.id)
        return results

    def resettle(self, change: Callable[[Settlement], None]) -> list[str]:
        """Change which of the stored memories are in force, in one commit; return the ids that changed."""
        space = self._store.fingerprint

        def plan() -> list[MemoryRecord]:
            settlement = Settlement(self._topics)
            change(settlement)
            return settlement.rows

        return [done.id for done in self._commit(plan, {}, space)]

    def _commit(
        self, plan: Callable[[], list[MemoryRecord]], by_text: dict[str, Any], space: str
    ) -> list[Written]:
        """Write what `plan` finds, with nobody else writing between its look and the write. Texts that it
        turns up are embedded outside of the lock, and it looks again."""
        while True:
            with self._store.lock.exclusive():
                rows = plan()
                stored = self._stored_vectors([row for row in rows if row.search_text not in by_text], {})
                by_text |= {row.search_text: stored[row.id] for row in rows if row.id in stored}
                missing = list(
                    dict.fromkeys(row.search_text for row in rows if row.search_text not in by_text)
                )
                if not missing:
                    written = self._store.upsert(
                        rows, [by_text[row.search_text] for row in rows], space=space
                    )
                    break
            self._check_space()
            for text, vector in zip(missing, self._embedder.passages_each(missing), strict=True):
                if isinstance(vector, OlavError):
                    raise vector
                by_text[text] = vector
        self._notify(rows, written)
        return written

    def _upsert(self, records: Sequence[MemoryRecord], vectors: Sequence[Any], space: str) -> list[Written]:
        import numpy as np

        written = self._store.upsert(records, np.stack(vectors), space=space)
        self._notify(records, written)
        return written

    def _notify(self, records: Sequence[MemoryRecord], written: Sequence[Written]) -> None:
        for record, done in zip(records, written, strict=True):
            if done.created or done.changed:
                self._registry.notify_written(record)

    def _without_erased(
        self, records: list[MemoryRecord], outcomes: dict[str, Remembered]
    ) -> list[MemoryRecord]:
        hashes = {record.id: text_hash(record.text) for record in records}
        erased = self._store.erased(set(hashes.values()))
        for identifier, digest in hashes.items():
            if digest in erased:
                error = ErasedTextError(
                    f"This text was erased before, so {identifier} is not stored. To store it all the same: "
                    "`olav remember --revive`, in Python `revive=True`."
                )
                outcomes[identifier] = Remembered(id=identifier, error=error)
        return [record for record in records if record.id not in outcomes]

    def _without_written(
        self, records: list[MemoryRecord], outcomes: dict[str, Remembered]
    ) -> list[MemoryRecord]:
        """Leave out what is stored already of categories whose rows never change."""
        ids = [record.id for record in records if self._append_only(record.category)]
        kept = self._store.existing(ids) if ids else {}
        outcomes.update({id: Remembered(id=id) for id in kept})
        return [record for record in records if record.id not in kept]

    def _append_only(self, category: str) -> bool:
        spec = self._categories.get(category)
        return spec is not None and spec.append_only

    def _stored_vectors(
        self, records: Sequence[MemoryRecord], vectors_from: Mapping[str, str]
    ) -> dict[str, Any]:
        sources = {record.id: vectors_from.get(record.id, record.id) for record in records}
        existing = self._store.existing(list(sources.values()))
        same = {
            record.id: sources[record.id]
            for record in records
            if (row := existing.get(sources[record.id])) is not None and row.search_text == record.search_text
        }
        vectors = self._store.vectors(list(same.values()))
        return {identifier: vectors[source] for identifier, source in same.items() if source in vectors}
