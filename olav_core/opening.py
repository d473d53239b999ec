"""Opening and making workspaces."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from olav_core.config import Settings
from olav_core.embedding.configured import configured_embedder
from olav_core.errors import WorkspaceError
from olav_core.host.registry import Registry, build_registry
from olav_core.memory import Memory
from olav_core.packages.journal import pending
from olav_core.workspace import Workspace, find_workspace, workspace_at

if TYPE_CHECKING:
    from olav_core.store.store import Store


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    registry: Registry | None = None,
    settings: Settings | None = None,
    complete: bool = True,
) -> Memory:
    """Open the workspace at `path`, or the nearest one above it (default: OLAV_WORKSPACE, else here).

    `registry`: the plug-ins to use (default: all that are installed). `settings`: instead of the
    configuration file and OLAV_* variables. `complete=False` leaves an installation that was interrupted as
    it is, for those who only read. Raises WorkspaceError, ConfigError,
    PluginError and StoreError. The embedder is checked against the store at the first recall or write.
    """
    workspace = find_workspace(path)
    settings = settings or Settings.load(workspace.config_path)
    registry = registry or build_registry(plugin_dir=workspace.plugin_directory)
    memory = Memory(workspace, settings, registry, _open_store(workspace, settings))
    if complete and pending(workspace.install_directory):  # a process was killed while it installed
        from olav_core.packages.installer import resume

        resume(memory)
    return memory


def init(
    path: str | os.PathLike[str] = ".",
    *,
    embedder: str = "e5",
    options: Mapping[str, Any] | None = None,
    registry: Registry | None = None,
) -> Memory:
    """Make a workspace at `path`: its configuration and an empty store in the embedder's space.

    Raises WorkspaceError when there is one already, UnknownIdError and EmbedderError; nothing is left
    behind then.
    """
    workspace = workspace_at(path)
    if workspace.config_path.exists():
        raise WorkspaceError(f"{workspace.root} is a workspace already. Open it, or choose another folder.")
    registry = registry or build_registry(plugin_dir=workspace.plugin_directory)
    handle = configured_embedder(registry, workspace.root, embedder, options or {})
    fingerprint = handle.fingerprint()  # loads the embedder: a broken one must leave no folder behind
    workspace.create()
    from olav_core.store.store import Store

    Store.create(str(workspace.database), fingerprint.to_json()).close()
    Settings.write_default(workspace.config_path, embedder=embedder, options=options or {})
    return open(workspace.root, registry=registry)


def _open_store(workspace: Workspace, settings: Settings) -> Store:
    from olav_core.store.store import Store

    uri = settings.store.uri or str(workspace.database)
    return Store.open(uri, storage_options=settings.store.storage_options or None)
