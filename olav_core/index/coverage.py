"""How far the recall index is."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen


@frozen
class SyncReport:
    """What one sync did. `version`: table version that is covered now; `changed` and `removed` count rows
    whose content or existence changed; `rebuilt` says why the lexical index was started over (empty: it was
    not); `lexical_behind` rows are scored in memory until they are folded into the index."""

    version: int
    changed: int = 0
    removed: int = 0
    rebuilt: str = ""
    lexical_behind: int = 0


@frozen
class Coverage:
    """How far the index is: rows resident, their table version, rows committed to the lexical index and its
    version, rows scored in memory, rows per language."""

    rows: int
    version: int
    lexical_rows: int
    lexical_version: int
    lexical_behind: int
    languages: Mapping[str, int]
