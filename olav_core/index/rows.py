"""The resident rows: everything about each row but its text and its vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Row ids above this multiple of the rows (plus a margin) are looked up in a dict, not in an array.
_SPARSE = 8
_MARGIN = 1_000_000
_COLUMNS = {
    "rowids": "u8",
    "digests": "u8",
    "categories": "i2",
    "scopes": "i4",
    "languages": "i1",
    "expires": "f8",
    "timestamps": "f8",
    "confidence": "f4",
    "keys": "V16",
    "alive": "?",
}


class Names:
    """Names <-> small codes, in order of appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, name: str) -> int:
        """Return the code of a name, giving it one at first sight."""
        found = self._codes.get(name)
        if found is None:
            found = self._codes[name] = len(self.names)
            self.names.append(name)
        return found

    def known(self, name: str) -> int | None:
        return self._codes.get(name)


class RowTable:
    """Columns of numpy arrays, one slot per row, about 70 bytes each. Append-only: a row whose content
    changes gets a new slot and its old one dies, so what a reader holds stays true. Columns (float times in
    seconds since the epoch, `expires` inf for never) are attributes by name, cut to the filled slots.
    """

    rowids: NDArray[np.uint64]
    digests: NDArray[np.uint64]
    categories: NDArray[np.int16]
    scopes: NDArray[np.int32]
    languages: NDArray[np.int8]
    expires: NDArray[np.float64]
    timestamps: NDArray[np.float64]
    confidence: NDArray[np.float32]
    keys: NDArray[np.void]
    alive: NDArray[np.bool_]

    def __init__(self, category_names: Names, scope_names: Names) -> None:
        import numpy as np

        self.category_names = category_names
        self.scope_names = scope_names
        self.size = 0
        self.live = 0
        self._arrays: dict[str, Any] = {name: np.empty(0, dtype=kind) for name, kind in _COLUMNS.items()}
        self._odd_ids: dict[int, str] = {}
        self._slots: Any = np.empty(0, dtype=np.int32)
        self._sparse: dict[int, int] | None = None
        self._order: Any = None  # of the rows by row id, in a table that is only read
        self._cut()

    def append(self, ids: Sequence[str], rowids: NDArray[np.uint64], **columns: Any) -> NDArray[np.int64]:
        """Append rows and return their slots; `columns` are the other columns but `keys` and `alive`."""
        import numpy as np

        first, last = self.size, self.size + len(ids)
        if last > len(self._arrays["rowids"]):
            self._grow(max(last, 2 * self.size if self.size < 50_000 else self.size + self.size // 4))
        for name, values in columns.items():
            self._arrays[name][first:last] = values
        self._arrays["rowids"][first:last] = rowids
        self._arrays["alive"][first:last] = True
        for slot, (id_, code) in enumerate(zip(ids, columns["categories"], strict=True), first):
            key = _key(id_, self.category_names.names[code])
            if key is None:
                self._odd_ids[slot] = id_
            else:
                self._arrays["keys"][slot] = key
        self.size = last
        self.live += len(ids)
        slots = np.arange(first, last)
        self._map(rowids, slots)
        self._cut()
        return slots

    def kill(self, slots: NDArray[np.int64]) -> None:
        """Let rows die; their row ids lead nowhere until they are appended again."""
        self.alive[slots] = False
        self.live -= len(slots)
        self._map(self.rowids[slots], -1)

    def slots_of(self, rowids: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the live slot of every row id, -1 where there is none."""
        import numpy as np

        if self._order is not None:
            if not len(self._order):
                return np.full(len(rowids), -1, dtype=np.int64)
            order = self._order
            places = np.searchsorted(self.rowids, rowids, sorter=order)
            slots = order[np.minimum(places, len(order) - 1)]
            return np.where(self.rowids[slots] == rowids, slots, -1)
        if self._sparse is not None:
            sparse = self._sparse
            return np.array([sparse.get(int(row), -1) for row in rowids], dtype=np.int64)
        table = self._slots
        if not len(table):
            return np.full(len(rowids), -1, dtype=np.int64)
        inside = rowids < len(table)
        return np.where(inside, table[np.where(inside, rowids, 0).astype(np.int64)], -1).astype(np.int64)

    def id_of(self, slot: int) -> str:
        """Return the memory id of a slot, dead or alive."""
        odd = self._odd_ids.get(slot)
        if odd is not None:
            return odd
        key: bytes = self.keys[slot].tobytes()
        return f"{self.category_names.names[self.categories[slot]]}:{key.hex()}"

    def ids_of(self, slots: NDArray[np.int64]) -> list[str]:
        """Return the memory ids of slots, dead or alive."""
        names, width = self.category_names.names, 32
        digits = self.keys[slots].tobytes().hex()
        ids = [
            f"{names[code]}:{digits[i * width : (i + 1) * width]}"
            for i, code in enumerate(self.categories[slots].tolist())
        ]
        if self._odd_ids:
            return [self._odd_ids.get(slot, id_) for slot, id_ in zip(slots.tolist(), ids, strict=True)]
        return ids

    def scope_of(self, slot: int) -> str:
        return self.scope_names.names[int(self.scopes[slot])]

    def keep(self, slots: NDArray[np.int64], *, few: bool = False) -> RowTable:
        """Return a new table of these rows in this order; this one stays as it is for those who read it.
        `few` of many get no table of row ids."""
        kept = RowTable(self.category_names, self.scope_names)
        for name in _COLUMNS:
            kept._arrays[name] = self._arrays[name][slots]
        if self._odd_ids:
            odd = self._odd_ids
            kept._odd_ids = {new: odd[old] for new, old in enumerate(slots.tolist()) if old in odd}
        kept.size = kept.live = len(slots)
        import numpy as np

        if few:
            kept._order = np.argsort(kept._arrays["rowids"])
        else:
            kept._map(kept._arrays["rowids"], np.arange(len(slots)))
        kept._cut()
        return kept

    def _cut(self) -> None:
        for name, values in self._arrays.items():
            setattr(self, name, values[: self.size])

    def _grow(self, capacity: int) -> None:
        import numpy as np

        for name, values in self._arrays.items():
            fresh = np.empty(capacity, dtype=values.dtype)
            fresh[: self.size] = values[: self.size]
            self._arrays[name] = fresh

    def _map(self, rowids: NDArray[np.uint64], slots: Any) -> None:
        import numpy as np

        if not len(rowids):
            return
        top = int(rowids.max())
        if self._sparse is None and top >= _SPARSE * max(self.size, 1) + _MARGIN:
            known = np.flatnonzero(self._slots >= 0)
            self._sparse = dict(zip(known.tolist(), self._slots[known].tolist(), strict=True))
            self._slots = np.empty(0, dtype=np.int32)
        if self._sparse is not None:
            pairs = zip(rowids.tolist(), np.broadcast_to(slots, len(rowids)).tolist(), strict=True)
            self._sparse.update(pairs)
            return
        if top >= len(self._slots):
            fresh = np.full(max(top + 1, len(self._slots) * 5 // 4), -1, dtype=np.int32)
            fresh[: len(self._slots)] = self._slots
            self._slots = fresh
        self._slots[rowids.astype(np.int64)] = slots


def _key(id_: str, category: str) -> bytes | None:
    """Return the 16 bytes of a `<category>:<32 hex>` id, None for an id of another form."""
    prefix, _, tail = id_.rpartition(":")
    if prefix != category or len(tail) != 32 or tail != tail.lower():
        return None
    try:
        key = bytes.fromhex(tail)
    except ValueError:
        return None
    return key if len(key) == 16 else None
