"""The contract of a category."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import evolve

from olav_core.errors import OlavError
from olav_core.host.metadata import structure
from olav_core.records import MemoryRecord
from olav_core.specs import CategorySpec, Draft
from olav_core.testing.breach import ContractBreach
from olav_core.testing.contract import ODD_TEXTS, PluginContract, same_twice
from olav_core.testing.fake_clock import START, FakeClock
from olav_core.testing.minimal_metadata import minimal_metadata, required_fields
from olav_core.testing.workspaces import temporary_workspace
from olav_core.writer import Writer

if TYPE_CHECKING:
    from olav_core.memory import Memory

_CALLED = "It is called for every write or every recall; an exception there costs the user that memory."


class CategoryContract(PluginContract):
    """Subclass it in a test file and set `plugin`.

    `drafts`: memories that the category takes, the first with the least metadata it needs. Without them one
    is made up from the metadata class.
    """

    kind: ClassVar[str] = "categories"
    drafts: Sequence[Draft] = ()

    # --- samples ---------------------------------------------------------------------------------

    def _drafts(self) -> list[Draft]:
        if self.drafts:
            return list(self.drafts)
        spec: CategorySpec = self.spec
        try:
            metadata = minimal_metadata(spec.metadata)
            draft = Draft(
                text="Restart the mail relay after the certificate was renewed",
                category=spec.id,
                metadata=metadata,
                origin="user" if "user" in spec.origins else min(spec.origins),
            )
            self._prepare(draft)
        except (OlavError, LookupError) as error:
            raise ContractBreach(
                f"{self.name}: the sample memory that was made up for it is refused: {error}",
                "The contract needs a memory that the category takes.",
                "Mend what it names, or set `drafts = [Draft(text=…, category=…, metadata={…})]` on your "
                "CategoryContract.",
            ) from error
        return [draft]

    def _prepare(self, draft: Draft) -> MemoryRecord:
        writer = Writer(None, None, self.registry, self.registry.categories, lambda: None)  # type: ignore[arg-type]
        return writer.prepare(draft)

    def _variants(self, count: int) -> list[Draft]:
        """Return memories that differ in every text: the first sample, told of another thing each time."""
        first, *_ = self._drafts()
        fields = required_fields(self.spec.metadata)
        return [
            evolve(
                first,
                text=f"{first.text}, case {n}{n}{n}",
                metadata={
                    key: f"{value} {n}" if key in fields and isinstance(value, str) and n else value
                    for key, value in first.metadata.items()
                },
            )
            for n in range(count)
        ]

    @contextmanager
    def _workspace(self) -> Iterator[Memory]:
        plugins = () if self.plugin is None else (self.plugin,)
        with temporary_workspace(*plugins) as memory:
            yield memory

    def _functions(self) -> list[tuple[str, Callable[[MemoryRecord], Any]]]:
        spec = self.spec
        functions = [(name, getattr(spec, name)) for name in ("dedupe_key", "embed_text", "render")]
        lists = (("keywords", spec.keywords), ("questions", spec.questions))
        return functions + [(name, function) for name, function in lists if function is not None]

    # --- rules -----------------------------------------------------------------------------------

    def test_it_takes_its_samples(self) -> None:
        for draft in self._drafts():
            with self.calling(
                f"preparing {draft.text!r}",
                "These are the memories that it says it takes.",
                "Mend the metadata class, the origins or the sample.",
            ):
                self._prepare(draft)

    def test_metadata_survives_json(self) -> None:
        for draft in self._drafts():
            metadata = self._prepare(draft).metadata
            stored = json.loads(json.dumps(metadata))
            with self.calling(
                "structuring stored metadata again",
                "Rows are read back from JSON, exported and imported.",
                "Let the metadata class take what it gives: plain JSON types, sound defaults.",
            ):
                again = structure(self.spec, stored)
            self.require(
                again == metadata,
                f"metadata {metadata!r} comes back from the store as {again!r}.",
                "The row would change each time it is written, and be embedded again.",
                "Use converters that leave a converted value as it is.",
            )

    def test_dedupe_key_is_a_function_of_what_the_memory_says(self) -> None:
        for draft in self._drafts():
            record = self._prepare(draft)
            key = self.spec.dedupe_key(record)
            mend = "Build it from `record.text` and `record.metadata` only."
            self.require(isinstance(key, str), f"dedupe_key gave {key!r}.", "Ids are hashes of it.", mend)
            later = record.created_at + timedelta(days=1)
            other = evolve(record, id="other", created_at=later, access_count=7, expires_at=later)
            for what, again in (("called twice", record), ("for the same memory, written later", other)):
                self.require(
                    self.spec.dedupe_key(again) == key,
                    f"dedupe_key gives another key when {what}.",
                    "Two writes with one key are one row; with another key each write is a new row.",
                    mend,
                )

    def test_functions_take_any_text(self) -> None:
        record = self._prepare(self._drafts()[0])
        for text in ODD_TEXTS:
            self._call_all(evolve(record, text=text, search_text=text), f"text {text[:40]!r}")

    def test_functions_take_rows_of_an_earlier_version(self) -> None:
        record = self._prepare(self._drafts()[0])
        fields = required_fields(self.spec.metadata)
        least = {key: value for key, value in record.metadata.items() if key in fields}
        self._call_all(evolve(record, metadata=least), "metadata without its optional fields")

    def _call_all(self, record: MemoryRecord, what: str) -> None:
        for name, function in self._functions():
            mend = f"Let {name} take any text, and read metadata with `.get(key, default)`."
            with self.calling(f"{name} on {what}", _CALLED, mend):
                value = function(record)
            if name in ("keywords", "questions"):
                ok = not isinstance(value, str) and all(isinstance(word, str) for word in value)
                self.require(ok, f"{name} gave {value!r} on {what}.", _CALLED, "Return a list of strings.")
                continue
            self.require(
                isinstance(value, str) and value.strip(),
                f"{name} gave {value!r} on {what}.",
                "A blank text cannot be embedded, a blank render is an empty memory in the prompt.",
                f"Return a string with something in it from {name}.",
            )

    def test_functions_are_pure(self) -> None:
        record = self._prepare(self._drafts()[0])
        before = copy.deepcopy(record)
        for name, function in self._functions():
            self.require(
                same_twice(lambda function=function: function(record)),  # type: ignore[misc]
                f"{name} gives another value at the second call.",
                "A row whose search text changes by itself is embedded again at every write.",
                "Let it depend on the record only.",
            )
        self.require(
            record == before,
            "a function changed the record's metadata.",
            "The record is shared with the index, other recalls and observers.",
            "Copy what you change: `dict(record.metadata)`.",
        )

    def test_one_memory_written_twice_is_one_row(self) -> None:
        draft = self._drafts()[0]
        draft = evolve(draft, timestamp=draft.timestamp or START)  # one thing happens at one time
        with self._workspace() as memory:
            first, second = memory.remember_many([draft]), memory.remember_many([draft])
            for outcome in (*first, *second):
                if outcome.error is not None:
                    raise ContractBreach(
                        f"{self.name}: it could not be written: {outcome.error}",
                        "It is the sample that the category says it takes.",
                        "Mend the sample or the category.",
                    )
            rows = memory.list(category=self.spec.id)
            self.require(
                len(rows) == 1 and not second[0].created,
                f"the same memory written twice gave {len(rows)} rows.",
                "Captures and imports repeat themselves.",
                "Let dedupe_key leave out what differs between two tellings of one thing.",
            )
            self.require(
                rows[0].metadata == self._prepare(draft).metadata,
                f"metadata {rows[0].metadata!r} was read back for {self._prepare(draft).metadata!r}.",
                "What a gate or render reads is what was read back.",
                "Keep metadata to plain JSON types.",
            )

    def test_different_memories_are_different_rows(self) -> None:
        drafts = list(self.drafts) if len(self.drafts) > 1 else self._variants(3)
        keys = {self.spec.dedupe_key(self._prepare(draft)) for draft in drafts}
        self.require(
            len(keys) == len(drafts),
            f"{len(drafts)} different memories have {len(keys)} dedupe key(s).",
            "Memories with one key overwrite one another: all but the last are lost.",
            "Put into dedupe_key what tells two memories apart.",
        )

    def test_recall_keeps_its_cap_and_can_inject_it(self) -> None:
        spec: CategorySpec = self.spec
        drafts = self._variants((spec.cap or 3) + 3)
        with self._workspace() as memory:
            memory.remember_many(drafts)
            record = memory.list(category=spec.id)[0]
            recall = memory.recall(record.search_text, agent=record.scope, tier="large", log=False)
            own = [item for item in recall.items if item.category == spec.id]
            fates = [f"{t.decision}: {t.reason}" for t in recall.trace if t.category == spec.id]
            if spec.recallable and spec.cap != 0:
                self.require(
                    own,
                    "none of its memories is injected for its own text "
                    f"({'; '.join([*fates[:3], *recall.degraded]) or 'no candidate'}).",
                    "A quota reserves slots only for what gets past the gates; nobody would ever see it.",
                    "Loosen the gate or its options, or set `recallable=False` if that is meant; a sample "
                    "that should be dropped does not belong first in `drafts`.",
                )
            limit = spec.cap if spec.recallable else 0
            self.require(
                limit is None or len(own) <= limit,
                f"{len(own)} of its memories were injected, its cap is {limit}.",
                "Caps keep one category from filling the prompt.",
                "Report it: the core holds caps.",
            )
            self.require(
                not recall.degraded,
                f"the recall was degraded: {'; '.join(recall.degraded)}",
                "A gate or render that raises is left out of every recall.",
                "Mend what the message names.",
            )

    def test_ttl_ends_its_life(self) -> None:
        spec: CategorySpec = self.spec
        if spec.ttl is None or any(draft.expires_at for draft in self.drafts):
            return
        with FakeClock() as clock, self._workspace() as memory:
            memory.remember_many(self._drafts()[:1])
            row = memory.list(category=spec.id)[0]
            clock.advance(spec.ttl + timedelta(seconds=1))
            recall = memory.recall(row.search_text, agent=row.scope, tier="large", log=False)
            self.require(
                all(item.category != spec.id for item in recall.items),
                f"a memory older than its ttl of {spec.ttl} was injected.",
                "Expired means: not recalled, even before the clean-up ran.",
                "Report it: the core holds ttls.",
            )
