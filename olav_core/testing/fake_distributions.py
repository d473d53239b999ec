"""Distributions that no installer brought: a folder on the import path that looks like site-packages."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from importlib import invalidate_caches
from pathlib import Path
from textwrap import dedent
from types import TracebackType

from olav_core.hookspecs import ENTRY_POINT_GROUP


class FakeDistributions:
    """Lays distributions down in `folder` as an installer leaves them: `.dist-info` and modules.

    As a context manager (fixture `olav_site`) it puts the folder first on sys.path and takes it, and the
    modules that were imported from it, away again. Without that, hand the folder to a child process as
    PYTHONPATH.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self,
        name: str,
        entry_points: str | Mapping[str, str],
        modules: Mapping[str, str] | None = None,
        *,
        version: str = "1.0",
        editable: Path | None = None,
    ) -> None:
        """Add a distribution.

        `entry_points`: name -> `module` or `module:object` in the group `olav.plugins`, or raw lines of that
        group. `modules`: path below the folder -> source, dedented. `editable`: the project that
        `pip install -e` would have installed it from.
        """
        info = self._info(name, version)
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
        lines = entry_points
        if not isinstance(lines, str):
            lines = "\n".join(f"{point} = {value}" for point, value in lines.items())
        (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{lines}\n", "utf-8")
        if editable is not None:
            origin = {"url": editable.as_uri(), "dir_info": {"editable": True}}
            (info / "direct_url.json").write_text(json.dumps(origin), "utf-8")
        for path, source in (modules or {}).items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(source), "utf-8")
        invalidate_caches()

    def remove(self, name: str, *, version: str = "1.0") -> None:
        """Take a distribution's metadata away, as an uninstall does; its modules stay importable."""
        shutil.rmtree(self._info(name, version))
        invalidate_caches()

    def _info(self, name: str, version: str) -> Path:
        return self.folder / f"{name.replace('-', '_')}-{version}.dist-info"

    def __enter__(self) -> FakeDistributions:
        self.folder.mkdir(parents=True, exist_ok=True)
        sys.path.insert(0, str(self.folder))
        invalidate_caches()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.path.remove(str(self.folder))
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file and Path(file).is_relative_to(self.folder):
                del sys.modules[name]
        invalidate_caches()
