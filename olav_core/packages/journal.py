"""The folder in which packages are staged, and the notes of changes that are decided but not complete."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from olav_core.atomic_write import write_atomically
from olav_core.errors import WorkspaceError

_SUFFIX = ".json"


@frozen(kw_only=True)
class Change:
    """A decided change of one package: `kind` is "agents" or "bundles". `token` names its staging folder.

    With `install` the staged folder takes the place of the installed one, without it that one goes; then
    the rows follow the files.
    """

    kind: str
    name: str
    token: str
    install: bool


class Journal:
    """`.olav/installing`: staging folders `<token>/<kind>/<name>` and one note per decided change.

    A process that was killed before the note stands leaves rubbish, after it a change to be completed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def locked(self, *, wait: bool = True) -> Iterator[bool]:
        """Keep other processes out; with `wait=False` gives False when one is at work."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / ".lock").open("a")
        except OSError as error:
            raise WorkspaceError(
                f"{self.folder} cannot be written: {error.strerror}. Check its rights."
            ) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True

    def stage(self, kind: str, name: str) -> tuple[str, Path]:
        """Return (token, staging folder), the folder's parents made."""
        token = uuid.uuid4().hex
        place = self.staged(token, kind, name)
        place.parent.mkdir(parents=True)
        return token, place

    def staged(self, token: str, kind: str, name: str) -> Path:
        return self.folder / token / kind / name

    def replaced(self, change: Change) -> Path:
        """Where the folder lies that a change took out."""
        return self.folder / change.token / "replaced"

    def note(self, change: Change) -> None:
        """Decide a change: from here on it will be completed."""
        write_atomically(self._path(change), json.dumps(asdict(change)))

    def done(self, change: Change) -> None:
        self._path(change).unlink(missing_ok=True)
        shutil.rmtree(self.folder / change.token, ignore_errors=True)

    def changes(self) -> list[Change]:
        """Return the decided changes that are not complete; a note that cannot be read raises."""
        found = []
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            try:
                values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
                found.append(Change(**values))
            except (ValueError, TypeError) as error:
                raise WorkspaceError(
                    f"{path} is no note of an installation: {error}. Look at it, and delete it."
                ) from error
        return found

    def sweep(self) -> None:
        """Delete what killed processes left that no note speaks of; call it under the lock."""
        kept = {change.token for change in self.changes()}
        for path in self.folder.iterdir():
            if path.is_dir() and path.name not in kept:
                shutil.rmtree(path, ignore_errors=True)
            elif path.suffix == ".new":
                with suppress(OSError):
                    path.unlink()

    def _path(self, change: Change) -> Path:
        return self.folder / f"{change.kind}-{change.name}{_SUFFIX}"


def pending(folder: Path) -> bool:
    """Tell whether a killed process left a decided change there; one directory listing."""
    try:
        return any(entry.name.endswith(_SUFFIX) for entry in os.scandir(folder))
    except OSError:
        return False
