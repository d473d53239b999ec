"""OlavStore: LangGraph's BaseStore over the memory table."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
)

from olav_core import Draft, Memory, MemoryRecord
from olav_langchain.item import ITEM
from olav_langchain.item_filter import passes
from olav_langchain.item_value import end_of, is_expired, item_parts, json_value, text_of
from olav_langchain.namespace import Namespace, matches, namespace_of, scope_of


class OlavStore(BaseStore):
    """Items are rows of category `item`: a namespace is a scope (olav_langchain.namespace), a key one row.

    Searching with a query is the memory's own hybrid search, in the scopes below the prefix only. Values are
    kept as JSON, redacted like every write. A batch reads before it writes; of several puts of one key the
    last counts. Deleting an item deletes its row; `Memory.forget` also keeps its text from coming back, and
    putting such a text raises ErasedTextError. `ttl_config`: `default_ttl` in minutes, `refresh_on_read`.
    """

    supports_ttl = True
    __slots__ = ("_agent", "memory", "ttl_config")

    def __init__(self, memory: Memory, *, agent: str = "core", ttl_config: TTLConfig | None = None) -> None:
        memory.registry.category(ITEM.id)  # switched off: says so here
        self.memory = memory
        self._agent = agent
        self.ttl_config = ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations; one result each, in order."""
        ops = list(ops)
        self.memory.store.refresh()
        results: list[Result] = [None if isinstance(op, PutOp) else self._read(op) for op in ops]
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        if puts:
            self._write(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` without blocking the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    # --- reading ----------------------------------------------------------------------------------

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise TypeError(f"{type(op).__name__} is not an operation of a store.")

    def _get(self, op: GetOp) -> Item | None:
        record = self.memory.store.get(self._prepare(op.namespace, op.key, {"key": op.key}).id)
        if record is None or is_expired(record):
            return None
        self._touch([record], op.refresh_ttl)
        return Item(**item_parts(record))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        scopes = self._scopes(op.namespace_prefix)
        if not scopes or op.limit < 1:
            return []
        if op.query and op.query.strip():
            found = self._ranked(op, scopes)
        else:
            listed = self.memory.store.list(category=ITEM.id, scopes=scopes)
            found = [(None, record) for record in listed if self._wanted(record, op)]
        chosen = found[op.offset : op.offset + op.limit]
        self._touch([record for _, record in chosen], op.refresh_ttl)
        return [SearchItem(**item_parts(record), score=score) for score, record in chosen]

    def _ranked(self, op: SearchOp, scopes: list[str]) -> list[tuple[float | None, MemoryRecord]]:
        """Return at least offset + limit matching items by falling score, or all that there are."""
        needed = op.offset + op.limit
        asked = needed if not op.filter else 4 * needed
        while True:
            hits = self.memory.search(
                str(op.query), agent=self._agent, scopes=scopes, category=ITEM.id, limit=asked
            ).items
            kept: list[tuple[float | None, MemoryRecord]] = [
                (item.score, item.record)
                for item in hits
                if item.record.metadata.get("search") != "" and self._wanted(item.record, op)
            ]
            if len(kept) >= needed or len(hits) < asked:
                return kept
            asked *= 4

    def _wanted(self, record: MemoryRecord, op: SearchOp) -> bool:
        return not is_expired(record) and passes(record.metadata["value"], op.filter)

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        found = [namespace_of(scope) for scope in self._scopes(())]
        kept = [name for name in found if all(matches(name, c) for c in op.match_conditions or ())]
        cut = sorted({name[: op.max_depth] for name in kept})
        return cut[op.offset : op.offset + op.limit]

    def _scopes(self, prefix: Namespace) -> list[str]:
        """Return the scopes of the namespaces that begin with these labels."""
        used = {scope for (category, scope) in self.memory.store.counts() if category == ITEM.id}
        return sorted(scope for scope in used if namespace_of(scope)[: len(prefix)] == tuple(prefix))

    def _touch(self, records: list[MemoryRecord], refresh: bool) -> None:
        timed = [record for record in records if record.metadata.get("ttl")] if refresh else []
        if timed:
            ends = [end_of(record.metadata["ttl"]) for record in timed]
            self.memory.store.update_columns([record.id for record in timed], {"expires_at": ends})

    # --- writing ----------------------------------------------------------------------------------

    def _write(self, puts: list[PutOp]) -> None:
        records = [self._record(op) for op in puts if op.value is not None]
        gone = [self._prepare(op.namespace, op.key, {"key": op.key}).id for op in puts if op.value is None]
        if gone:
            self.memory.store.delete(gone)
        for outcome in self.memory.write(records) if records else ():
            if outcome.error is not None:
                raise outcome.error

    def _record(self, op: PutOp) -> MemoryRecord:
        value = json_value(op)
        search = None
        if op.index is False:
            search = ""
        elif op.index:
            search = "\n".join(text for path in op.index for text in get_text_at_path(value, path) if text)
        ttl = op.ttl
        metadata = {"key": op.key, "value": value, "search": search, "ttl": ttl}
        return self._prepare(op.namespace, op.key, metadata, text_of(value), ttl)

    def _prepare(
        self,
        namespace: Namespace,
        key: str,
        metadata: Mapping[str, Any],
        text: str = "item",
        ttl: float | None = None,
    ) -> MemoryRecord:
        draft = Draft(
            text=text,
            category=ITEM.id,
            scope=scope_of(namespace),
            metadata=metadata,
            origin="agent",
            expires_at=None if ttl is None else end_of(ttl),
        )
        return self.memory.prepare(draft)
