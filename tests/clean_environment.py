"""A virtual environment beside the one that runs the tests: everything of it, and what a test installs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any


class CleanEnvironment:
    """Sees the packages of the running environment, olav-core included, through one `.pth` line; what is
    installed goes into a folder of its own. Nothing is fetched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, symlinks=True, with_pip=False)
        self.python = folder / "bin" / "python"
        self.site = next((folder / "lib").glob("python*")) / "site-packages"
        outer = sysconfig.get_paths()["purelib"]
        # addsitedir, unlike a plain path, reads the .pth files in there: editable installs stay visible.
        (self.site / "outer.pth").write_text(f"import site; site.addsitedir({outer!r})\n", encoding="utf-8")

    def run(self, *command: object, **options: Any) -> str:
        """Run `python …` in the environment, outside of the checkout, and return its stdout."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST", "OLAV_"))}
        environment |= {"PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"}
        environment |= {"OLAV_CACHE_DIR": os.environ.get("OLAV_CACHE_DIR", str(self.folder / "cache"))}
        environment |= options.pop("environment", {})
        words = [str(self.python), *map(str, command)]
        options.setdefault("cwd", self.folder)
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, **options)
        assert done.returncode == 0, f"{words}\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"
        return done.stdout

    def olav(self, *words: object, **options: Any) -> str:
        """Run `olav …` in the environment and return its stdout."""
        return self.run("-c", "from olav_core.cli.main import main; main()", *words, **options)

    def install(self, *projects: Path) -> None:
        """Build and install projects, offline: hatchling comes from the running environment."""
        self._pip("install", "--no-index", "--no-build-isolation", "--no-deps", *projects)

    def uninstall(self, *names: str) -> None:
        self._pip("uninstall", "--yes", *names)

    def _pip(self, *words: object) -> None:
        command = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            self.python,
            "--disable-pip-version-check",
            *words,
        ]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
        environment |= {"PIP_NO_CACHE_DIR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            list(map(str, command)), env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
