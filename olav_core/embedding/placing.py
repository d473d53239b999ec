"""Placing: an embedder's paths that are relative start at the workspace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from olav_core.host.registry import Registry
    from olav_core.specs import Options


def place_path(options: Options, root: Path, registry: Registry) -> Options:
    """Let a relative option `path` start at `root`, wherever the program runs: an `EmbedderSpec.place`."""
    del registry
    path = options.get("path")
    if not isinstance(path, (str, os.PathLike)):
        return options
    return {**options, "path": str(root / Path(path).expanduser())}
