"""The scope that a file gets from the folder it lies in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from olav_core.records import GLOBAL_SCOPE
from olav_core.workspace import AGENTS, DIRECTORY

#: The folder whose guides are everybody's.
SHARED_OWNER = "core"


def scope_from_folder(
    root: Path, path: Path, agent: str = "", folders: Sequence[str] = ("guides",)
) -> str | None:
    """Return the scope that a file's folder gives it, None when its folder says nothing.

    `…/core/guides/…` is `global`, `…/<name>/guides/…` is `<name>`. An installed agent's,
    `.olav/…/agents/<name>/guides/…`, always is `<name>`; else a `<name>` that is the root itself or lies
    above it counts only when it is `core`, `agent`, or a folder of a workspace: a bundle's own folder name is
    not an agent. A workspace's root never is.
    """
    start = Path(os.path.abspath(path)).parent
    depth = len(Path(os.path.abspath(root)).parts)
    for folder in (start, *start.parents):
        owner = folder.parent
        if folder.name not in folders or not owner.name:
            continue
        if (owner / DIRECTORY).is_dir():
            return None
        if owner.parent.name == AGENTS and DIRECTORY in owner.parent.parts:
            return owner.name
        if owner.name == SHARED_OWNER:
            return GLOBAL_SCOPE
        inside = len(owner.parts) > depth
        return owner.name if inside or owner.name == agent or (owner.parent / DIRECTORY).is_dir() else None
    return None
