"""Which rows a query may see."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.index.rows import RowTable
    from olav_core.specs import CategorySpec

#: Scope and category combinations whose masks are kept until the rows change.
_KEPT = 32


@frozen
class Eligible:
    """bool [n], the eligible rows per category, and the categories that a lexical search is cut to (None:
    all).
    """

    mask: NDArray[np.bool_]
    groups: Mapping[str, NDArray[np.int64]]
    searched_categories: tuple[str, ...] | None


class Eligibility:
    """Masks by scopes and category, kept until `clear`. Only expiry is looked at anew for each query."""

    def __init__(self, specs: Mapping[str, CategorySpec]) -> None:
        self._specs = specs
        self._kept: dict[tuple[frozenset[str] | None, str | None], Eligible] = {}
        self._next_expiry: float | None = None

    def clear(self) -> None:
        """Forget every mask: rows were added, removed or changed."""
        self._kept.clear()
        self._next_expiry = None

    def of(
        self, rows: RowTable, scopes: Collection[str] | None, category: str | None, now: float
    ) -> Eligible:
        """Return what is eligible at `now`, seconds since the epoch; a row is expired from its last second
        on.
        """
        key = (None if scopes is None else frozenset(scopes), category)
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            found = self._kept[key] = self._build(rows, scopes, category)
        if self._next_expiry is None:
            self._next_expiry = float(rows.expires[rows.alive].min()) if rows.live else float("inf")
        if now < self._next_expiry:
            return found
        mask = found.mask & (rows.expires > now)
        groups = {name: members[mask[members]] for name, members in found.groups.items()}
        return Eligible(mask, groups, found.searched_categories)

    def _build(self, rows: RowTable, scopes: Collection[str] | None, category: str | None) -> Eligible:
        import numpy as np

        names = rows.category_names.names
        if category is None:
            allowed = [name in self._specs and self._specs[name].recallable for name in names]
        else:
            allowed = [name == category and name in self._specs for name in names]
        mask = rows.alive.copy()
        if not all(allowed):
            mask &= np.array(allowed, dtype=bool)[rows.categories]
        if scopes is not None:
            inside = np.zeros(len(rows.scope_names.names), dtype=bool)
            inside[[code for name in scopes if (code := rows.scope_names.known(name)) is not None]] = True
            mask &= inside[rows.scopes] if len(inside) else False
        mask.flags.writeable = False  # pools share it
        members = np.flatnonzero(mask)
        codes = rows.categories[members]
        groups = {names[code]: members[codes == code] for code in np.unique(codes)}
        searched = (
            None if all(allowed) else tuple(name for name, ok in zip(names, allowed, strict=True) if ok)
        )
        return Eligible(mask, groups, searched)
