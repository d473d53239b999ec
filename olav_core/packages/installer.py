"""Installing packages: files and rows change together, all or nothing, also when the process is killed."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from olav_core.errors import OlavError, PackageError
from olav_core.importing.directory import import_directory
from olav_core.importing.report import ImportReport
from olav_core.importing.source import place_of
from olav_core.packages.journal import Change, Journal, pending
from olav_core.packages.shipped import directive_importers, settle_space

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.records import MemoryRecord

_log = logging.getLogger("olav")
Progress = Callable[[int, int], None]
#: All records of a package are written at once: what the embedder cannot embed leaves nothing half done.
_AT_ONCE = sys.maxsize


class Installer:
    """Changes the packages below one of `.olav/agents` and `.olav/bundles`. Use it inside `at_work()`.

    Everything that can be wrong with a package is found before anything changes. Then the change is noted
    (it is decided), the folders are switched, and the rows follow. What fails in this process after that is
    undone; what a killed process left is completed by the next one, see `resume`.
    """

    def __init__(self, memory: Memory, kind: str) -> None:
        self.memory = memory
        self.kind = kind
        self.home = memory.workspace.directory / kind
        self.journal = Journal(memory.workspace.install_directory)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Hold the workspace's installation lock, with what killed processes left completed."""
        with self.journal.locked():
            _complete_all(self.memory, self.journal)
            self.journal.sweep()
            try:
                yield
            finally:
                self.journal.sweep()

    def place(self, name: str) -> Path:
        """Where the package lies when it is installed."""
        return self.home / name

    def stage(self, name: str) -> tuple[str, Path]:
        """Return (token, the path at which the package is to be staged)."""
        return self.journal.stage(self.kind, name)

    def check(self, name: str, staged: Path, source: Path) -> ImportReport:
        """Return what the package staged from `source` would bring; raises ImportFaultsError with all faults.

        Raises EmbeddingSpaceMismatchError and EmbedderUnavailableError, too.
        """
        settle_space(self.memory)
        report = _bring(self.memory, staged, self.place(name), strict=True, dry_run=True)

        def named(path: str) -> str:  # as the caller knows the file, not where it is staged
            return path.replace(str(staged), str(source), 1)

        report = evolve(
            report,
            directory=str(source),
            items=tuple(evolve(item, path=named(item.path)) for item in report.items),
            faults=tuple(evolve(fault, path=named(fault.path)) for fault in report.faults),
        )
        report.raise_for_faults()
        return report

    def install(
        self, name: str, token: str, staged: Path, *, on_progress: Progress | None = None
    ) -> ImportReport:
        """Put a checked, staged package into place; return what became of its memories."""
        change = Change(kind=self.kind, name=name, token=token, install=True)
        place, before = self.place(name), self.journal.replaced(change)
        self.journal.note(change)
        try:
            _switch(staged, place, before)
            report = _bring(self.memory, place, place, strict=True, on_progress=on_progress)
            report.raise_for_faults()
        except (OlavError, OSError):
            self._undo(change, place, before)
            raise
        self.journal.done(change)
        return report

    def remove(self, name: str) -> list[MemoryRecord]:
        """Remove an installed package and exactly the rows that it brought; return them."""
        place = self.place(name)
        if not place.is_dir():
            raise PackageError(f"{name!r} is not installed. `olav {self.kind[:-1]} list` shows what is.")
        token, _ = self.stage(name)
        change = Change(kind=self.kind, name=name, token=token, install=False)
        self.journal.note(change)
        rows = rows_below(self.memory, place)
        _complete(self.memory, self.journal, change)
        return rows

    def _undo(self, change: Change, place: Path, before: Path) -> None:
        back = Change(kind=change.kind, name=change.name, token=change.token, install=before.exists())
        self.journal.note(back)
        staged = self.journal.staged(change.token, change.kind, change.name)
        if before.exists():
            if place.exists():
                os.rename(place, self.journal.folder / change.token / "refused")
            staged.parent.mkdir(parents=True, exist_ok=True)
            os.rename(before, staged)
        try:
            _complete(self.memory, self.journal, back)
        except (OlavError, OSError) as error:
            # The note stays: the next command, or the next opening, completes the way back.
            _log.warning("the way back of %s %s waits: %s", self.kind[:-1], change.name, error)


def rows_below(memory: Memory, place: Path) -> list[MemoryRecord]:
    """Return the rows that files below `place` brought, of every category that a directive may be of."""
    root = memory.workspace.root.resolve()
    place = place.resolve()
    found = []
    memory.store.refresh()
    for category in _categories(memory):
        for row in memory.store.list(category=category):
            came_from = place_of(row, root)
            if came_from is not None and came_from.is_relative_to(place):
                found.append(row)
    return found


def resume(memory: Memory) -> None:
    """Complete what a killed process left of an installation; a failure is logged and left for later."""
    folder = memory.workspace.install_directory
    if not pending(folder):
        return
    journal = Journal(folder)
    try:
        with journal.locked(wait=False) as mine:
            if mine:
                _complete_all(memory, journal)
                journal.sweep()
    except (OlavError, OSError) as error:
        _log.warning("an installation that was interrupted could not be completed: %s", error)


def _categories(memory: Memory) -> list[str]:
    specs = (memory.registry.importers[id] for id in directive_importers(memory))
    return sorted({name for spec in specs for name in (spec.category, *spec.also)})


def _complete_all(memory: Memory, journal: Journal) -> None:
    for change in journal.changes():
        _complete(memory, journal, change)
        _log.warning("completed the interrupted change of %s %s", change.kind[:-1], change.name)


def _complete(memory: Memory, journal: Journal, change: Change) -> None:
    place = memory.workspace.directory / change.kind / change.name
    before = journal.replaced(change)
    if change.install:
        staged = journal.staged(change.token, change.kind, change.name)
        if staged.is_dir():
            _switch(staged, place, before)
        report = _bring(memory, place, place, strict=False)
        for fault in report.faults:
            _log.warning("%s", fault)
    else:
        if place.exists():
            before.parent.mkdir(parents=True, exist_ok=True)
            os.rename(place, before)
        rows = rows_below(memory, place)
        if rows:
            memory.store.delete([row.id for row in rows])
            memory.release(rows)
    journal.done(change)


def _switch(staged: Path, place: Path, before: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        os.rename(place, before)
    os.rename(staged, place)


def _bring(
    memory: Memory,
    folder: Path,
    place: Path,
    *,
    strict: bool,
    dry_run: bool = False,
    on_progress: Progress | None = None,
) -> ImportReport:
    return import_directory(
        memory,
        folder,
        importers=directive_importers(memory),
        workspace=memory.workspace.root,
        home=place,
        strict=strict,
        dry_run=dry_run,
        batch=_AT_ONCE,
        on_progress=on_progress,
    )
