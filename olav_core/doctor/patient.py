"""The workspace under examination: its parts open one by one, so that a broken one hides no other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from olav_core.config import Settings
from olav_core.embedding.configured import configured_embedder
from olav_core.embedding.fingerprint import Fingerprint
from olav_core.embedding.handle import EmbedderHandle
from olav_core.errors import WorkspaceError
from olav_core.host.assembly import assemble
from olav_core.host.registry import Registry
from olav_core.store.lock import local_path
from olav_core.workspace import DIRECTORY, Workspace, find_workspace, workspace_at

if TYPE_CHECKING:
    from olav_core.specs import CategorySpec
    from olav_core.store.store import Store


class Patient:
    """Each property opens one part and raises an OlavError when it cannot; nothing is written by looking."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = path

    @cached_property
    def workspace(self) -> Workspace:
        """The named workspace, else the nearest one upwards."""
        if self._path is None:
            return find_workspace()
        named = workspace_at(self._path)
        if not named.exists():
            raise WorkspaceError(
                f"{named.root} has no {DIRECTORY} folder. Run `olav init {named.root}`, or name another."
            )
        return named

    @cached_property
    def settings(self) -> Settings:
        return Settings.load(self.workspace.config_path)

    @cached_property
    def registry(self) -> Registry:
        """What loads of the plug-ins; faults stand in it instead of being raised."""
        disabled = frozenset(os.environ.get("OLAV_DISABLE", "").replace(",", " ").split())
        return assemble(None, plugin_dir=self.workspace.plugin_directory, disabled=disabled, kinds=None)

    @cached_property
    def categories(self) -> Mapping[str, CategorySpec]:
        return self.settings.apply_to(self.registry)

    @cached_property
    def uri(self) -> str:
        return self.settings.store.uri or str(self.workspace.database)

    @cached_property
    def store(self) -> Store:
        from olav_core.store.store import Store

        return Store.open(self.uri, storage_options=self.settings.store.storage_options or None)

    @cached_property
    def database(self) -> Path | None:
        """The database directory; None when it is not on a local file system."""
        return local_path(self.uri)

    @cached_property
    def handle(self) -> EmbedderHandle:
        embedder = self.settings.embedder
        return configured_embedder(self.registry, self.workspace.root, embedder.id, embedder.options)

    @cached_property
    def space(self) -> Fingerprint:
        """The configured embedder's own space: loads the model and embeds the canary texts."""
        return self.handle.fingerprint()

    def close(self) -> None:
        """Let go of the store."""
        if "store" in self.__dict__:
            self.store.close()
