"""The workspace that a command names, or the nearest one."""

from __future__ import annotations

import os
from pathlib import Path

from olav_core import WorkspaceError


def root_of(named: Path | None) -> Path:
    """Return the folder of the named workspace, else the nearest one upwards from here. Raises
    WorkspaceError."""
    if named is not None:
        root = named.expanduser().absolute()
        return root.parent if root.name == ".olav" else root
    here = Path(os.path.abspath("."))
    for folder in (here, *here.parents):
        if (folder / ".olav").is_dir():
            return folder
    raise WorkspaceError(
        f"There is no .olav folder in {here} or above it. Name the workspace: `--workspace DIR`."
    )
