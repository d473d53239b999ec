"""The workspace: the folder that holds `.olav`, and where everything in it lies."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen

from olav_core.errors import WorkspaceError

DIRECTORY = ".olav"
#: The folder of installed agents, in `.olav` and in an installed bundle.
AGENTS = "agents"
WORKSPACE_VARIABLE = "OLAV_WORKSPACE"


@frozen
class Workspace:
    """Paths of one workspace; nothing is created by looking."""

    root: Path

    @property
    def directory(self) -> Path:
        return self.root / DIRECTORY

    @property
    def config_path(self) -> Path:
        return self.directory / "config.yaml"

    @property
    def database(self) -> Path:
        return self.directory / "databases" / "memory.lance"

    @property
    def index_directory(self) -> Path:
        return self.directory / "index"

    @property
    def token_path(self) -> Path:
        """Where token vectors are kept; not in `index_directory`, which is emptied when it is made anew."""
        return self.directory / "tokens" / "tokens.sqlite"

    @property
    def spool_directory(self) -> Path:
        return self.directory / "spool"

    @property
    def plugin_directory(self) -> Path:
        return self.directory / "plugins"

    @property
    def lexicon_directory(self) -> Path:
        """The team's own lexicons, `*.tsv`."""
        return self.directory / "lexicons"

    @property
    def agents_directory(self) -> Path:
        return self.directory / AGENTS

    @property
    def bundles_directory(self) -> Path:
        return self.directory / "bundles"

    @property
    def install_directory(self) -> Path:
        """Where what is being installed or removed lies meanwhile."""
        return self.directory / "installing"

    def exists(self) -> bool:
        return self.directory.is_dir()

    def create(self) -> None:
        """Make the folders of a new workspace or raise WorkspaceError."""
        try:
            self.database.parent.mkdir(parents=True, exist_ok=True)
            self.plugin_directory.mkdir(exist_ok=True)
        except OSError as error:
            raise WorkspaceError(
                f"The workspace {self.directory} cannot be made: {error.strerror}. "
                "Choose a folder that you may write to: `olav init DIR`."
            ) from error


def workspace_at(path: str | os.PathLike[str]) -> Workspace:
    """Return the workspace whose root, or whose `.olav` folder, is `path`."""
    root = Path(path).expanduser().absolute()
    return Workspace(root.parent if root.name == DIRECTORY else root)


def find_workspace(start: str | os.PathLike[str] | None = None) -> Workspace:
    """Return the nearest workspace: OLAV_WORKSPACE, else `start` (default: here) or a folder above it.

    Raises WorkspaceError when there is none.
    """
    named = os.environ.get(WORKSPACE_VARIABLE)
    if start is None and named:
        workspace = workspace_at(named)
        if not workspace.exists():
            raise WorkspaceError(
                f"{WORKSPACE_VARIABLE} names {workspace.root}, which has no {DIRECTORY} folder. "
                f"Run `olav init {workspace.root}` or correct the variable."
            )
        return workspace
    here = workspace_at(start if start is not None else Path.cwd()).root
    for folder in (here, *here.parents):
        if (folder / DIRECTORY).is_dir():
            return Workspace(folder)
    raise WorkspaceError(
        f"There is no {DIRECTORY} folder in {here} or above it. Run `olav init` there, or name the "
        "workspace: `--workspace DIR`."
    )
