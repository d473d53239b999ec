"""The memory that a command works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from olav_core.errors import WorkspaceError

if TYPE_CHECKING:
    from olav_core.cli.terminal import Terminal
    from olav_core.memory import Memory


@contextmanager
def open_memory(workspace: Path | None, terminal: Terminal) -> Iterator[Memory]:
    """Open the named workspace, else the nearest one upwards; raises WorkspaceError when there is none.

    A workspace that is named is not looked for in the folders above it.
    """
    from olav_core.opening import open
    from olav_core.workspace import DIRECTORY, workspace_at

    named = None if workspace is None else workspace_at(workspace)
    if named is not None and not named.exists():
        raise WorkspaceError(
            f"{named.root} has no {DIRECTORY} folder. Run `olav init {named.root}`, or name another."
        )
    with terminal.guarded(), open(None if named is None else named.root) as memory:
        yield memory
