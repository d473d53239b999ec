"""Links: rows whose metadata names another row by its id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from olav_core.store import swap

if TYPE_CHECKING:
    from olav_core.store.store import Store

_ID: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}:[0-9a-f]{32}")
_BATCH: Final = 256
#: Looks at rows that others changed in the middle.
_ROUNDS: Final = 4


def mend_links(store: Store, moved: Mapping[str, str]) -> int:
    """Let every row that names a moved one name its new id (old id -> new id); returns how many did."""
    mended = 0
    for _ in range(_ROUNDS):
        store.refresh()
        table = store.scan(["id", "metadata"], row_ids=True)
        found = zip(*(table.column(name).to_pylist() for name in ("_rowid", "id", "metadata")), strict=True)
        rowids = [
            rowid
            for rowid, row_id, metadata in found
            if row_id not in moved and any(name in moved for name in _ID.findall(metadata or ""))
        ]
        if not rowids:
            break
        for start in range(0, len(rowids), _BATCH):
            mended += _mend(store, rowids[start : start + _BATCH], moved)
    return mended


def _mend(store: Store, rowids: list[int], moved: Mapping[str, str]) -> int:
    states = swap.states(store, rowids)
    vectors = store.vectors([state.record.id for state in states])
    states = [state for state in states if state.record.id in vectors]
    records = [
        evolve(state.record, metadata=_renamed(dict(state.record.metadata), moved)) for state in states
    ]
    return len(swap.replace(store, states, records, [vectors[record.id] for record in records]))


def _renamed(value: Any, moved: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _ID.sub(lambda match: moved.get(match[0], match[0]), value)
    if isinstance(value, dict):
        return {key: _renamed(item, moved) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, moved) for item in value]
    return value
