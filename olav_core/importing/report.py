"""What an import did: one item per memory, every fault of every file."""

from __future__ import annotations

from typing import Any, Literal

from attrs import asdict, frozen

from olav_core.errors import ImportFaultsError
from olav_core.specs import Fault
from olav_core.succession import Conflict

#: `kept`: the store's row is newer than the file's, or somebody else's and the import yields. `erased`: its
#: text was forgotten and stays out.
Action = Literal["added", "changed", "moved", "unchanged", "retired", "kept", "erased"]


@frozen(kw_only=True)
class ImportItem:
    """What happened to one memory. `previous_id` names the row that a move replaced."""

    action: Action
    id: str
    category: str
    scope: str
    path: str
    previous_id: str = ""


@frozen(kw_only=True)
class ImportReport:
    """The outcome of one import: every memory that a file brought, and every fault of every file.

    `conflicts`: memories that say otherwise than what came in, and which of both is in force.
    `embedded` counts texts that needed a new vector; `marked` counts files kept out by a `.removed` mark.
    With `applied` False (a dry run, or `strict` and a fault) nothing was written, and the counts tell what
    would have been.
    """

    directory: str
    files: int
    marked: int = 0
    embedded: int = 0
    applied: bool = True
    items: tuple[ImportItem, ...] = ()
    faults: tuple[Fault, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    @property
    def added(self) -> int:
        return self._count("added")

    @property
    def changed(self) -> int:
        return self._count("changed")

    @property
    def moved(self) -> int:
        return self._count("moved")

    @property
    def unchanged(self) -> int:
        return self._count("unchanged")

    @property
    def retired(self) -> int:
        return self._count("retired")

    @property
    def kept(self) -> int:
        return self._count("kept")

    @property
    def erased(self) -> int:
        return self._count("erased")

    def _count(self, action: Action) -> int:
        return sum(item.action == action for item in self.items)

    def raise_for_faults(self) -> None:
        """Raise ImportFaultsError, with every fault in its message, when there is one."""
        if self.faults:
            state = "Its sound files were imported." if self.applied else "Nothing was imported."
            lines = "\n".join(f"  {fault}" for fault in self.faults)
            raise ImportFaultsError(
                f"{len(self.faults)} fault(s) in {self.directory}:\n{lines}\n{state} "
                "Correct them and import again.",
                self.faults,
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the stable JSON object of `olav kb import-guides --json`."""
        return {
            "directory": self.directory,
            "files": self.files,
            "marked": self.marked,
            "added": self.added,
            "changed": self.changed,
            "moved": self.moved,
            "unchanged": self.unchanged,
            "retired": self.retired,
            "kept": self.kept,
            "erased": self.erased,
            "embedded": self.embedded,
            "applied": self.applied,
            "items": [asdict(item) for item in self.items],
            "faults": [asdict(fault) for fault in self.faults],
            "conflicts": [asdict(conflict) for conflict in self.conflicts],
        }
