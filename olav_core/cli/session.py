"""The memory that a command works on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from olav_core.errors import WorkspaceError

if TYPE_CHECKING:
    from olav_core.memory import Memory


def open_memory(workspace: Path | None) -> Memory:
    """Open the named workspace, else the nearest one upwards; raises WorkspaceError when there is none.

    A workspace that is named is not looked for in the folders above it.
    """
    from olav_core.opening import open
    from olav_core.workspace import DIRECTORY, workspace_at

    if workspace is None:
        return open()
    named = workspace_at(workspace)
    if not named.exists():
        raise WorkspaceError(
            f"{named.root} has no {DIRECTORY} folder. Run `olav init {named.root}`, or name another."
        )
    return open(named.root)
