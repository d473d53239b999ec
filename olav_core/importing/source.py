"""The directory that an import reads: its files, its stable name, and which stored rows came from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from olav_core.errors import WorkspaceError
from olav_core.records import MemoryRecord

#: `x.guide.yaml.removed` beside (or instead of) `x.guide.yaml` keeps that file out, even if it ships again.
REMOVED_SUFFIX = ".removed"


def place_of(row: MemoryRecord, workspace: Path | None) -> Path | None:
    """Return the absolute path of the file that brought a row, None when no import brought it.

    `workspace` is the resolved root that relative directories start from.
    """
    directory, source = row.metadata.get("directory"), row.metadata.get("source")
    if not directory or not source:
        return None
    return Path(os.path.normpath(Path(workspace or "/", str(directory), str(source))))


class ImportSource:
    """`root` is a directory or one file. `identity` names the directory: relative to the workspace when it
    lies inside, else absolute, so that it is the same from every working directory. `home`: where its files
    count as lying, for those that are about to be moved there and those that a package ships."""

    def __init__(self, root: Path, workspace: Path | None, home: Path | None = None) -> None:
        if not root.exists():
            raise WorkspaceError(
                f"There is no file or directory {root}. Check the path; nothing was imported."
            )
        self.root = root
        self.base = root if root.is_dir() else root.parent
        self.home = (home or self.base).resolve()
        self.workspace = workspace.resolve() if workspace is not None else None
        self.place = self.home if root.is_dir() else self.home / root.name
        if self.workspace is not None and self.home.is_relative_to(self.workspace):
            self.identity = self.home.relative_to(self.workspace).as_posix()
        else:
            self.identity = self.home.as_posix()

    def files(self, unreadable: Callable[[Path, OSError], None]) -> tuple[list[Path], list[Path]]:
        """Return (files, files kept out by a mark), both in order and without the marks themselves."""
        paths = list(self._walk(unreadable))
        if not self.root.is_dir() and self.root.with_name(self.root.name + REMOVED_SUFFIX).exists():
            paths.append(self.root.with_name(self.root.name + REMOVED_SUFFIX))
        marks = {path for path in paths if path.name.endswith(REMOVED_SUFFIX)}
        marked = {path.with_name(path.name.removesuffix(REMOVED_SUFFIX)) for path in marks}
        return [path for path in paths if path not in marked and path not in marks], sorted(marked)

    def _walk(self, unreadable: Callable[[Path, OSError], None]) -> Iterable[Path]:
        # Links to folders are followed, each real folder once; hidden names are skipped.
        if not self.root.is_dir():
            yield self.root
            return
        seen: set[str] = set()

        def onerror(error: OSError) -> None:
            unreadable(Path(error.filename or self.root), error)

        for folder, names, files in os.walk(self.root, followlinks=True, onerror=onerror):
            real = os.path.realpath(folder)
            if real in seen:
                names.clear()
                continue
            seen.add(real)
            names[:] = sorted(name for name in names if not name.startswith("."))
            yield from (Path(folder, name) for name in sorted(files) if not name.startswith("."))

    def placed(self, path: Path) -> Path:
        """Return the absolute path of a path below the root."""
        return self.home / path.relative_to(self.base)

    def covers(self, place: Path) -> bool:
        """Say whether an absolute path is the root or lies below it."""
        return place == self.place or (self.place == self.home and place.is_relative_to(self.place))

    def reads(self, place: Path) -> bool:
        """Say whether an import looks at an absolute path: hidden folders below the root are not read."""
        return self.covers(place) and not any(
            part.startswith(".") for part in place.relative_to(self.place).parts
        )

    def place_of(self, row: MemoryRecord) -> Path | None:
        """Return the absolute path of the file that brought a row, None when no import brought it."""
        return place_of(row, self.workspace)

    def shown(self, place: Path | None) -> str:
        """Return an absolute path the way the caller wrote the root."""
        if place is not None and place.is_relative_to(self.home):
            return str(self.base / place.relative_to(self.home))
        return str(place or self.root)
