"""The plug-in that a contract looks at, among the installed ones."""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from olav_core.host.discovery import find_refs, load_file
from olav_core.host.plugin import GIVEN, PluginInfo
from olav_core.host.registry import Registry, build_registry

if TYPE_CHECKING:
    from olav_core.host.plugin import PluginRef

#: A plug-in: its module, the module's import name, a single file's path, or any object with hooks.
Plugin = object


def module_of(plugin: Plugin) -> object:
    """Return the plug-in itself for an import name or the path of a single file."""
    if isinstance(plugin, Path):
        return load_file(plugin)
    if isinstance(plugin, str):
        return importlib.import_module(plugin)
    return plugin


def registry_with(*plugins: Plugin) -> Registry:
    """Return a registry of the installed plug-ins and these; one that is installed does not come twice.

    OLAV_DISABLE and OLAV_STRICT do not count. The same plug-ins on the same path give the same registry.
    """
    return _registry(find_refs(), tuple(sys.path), plugins)


@lru_cache(maxsize=16)
def _registry(refs: tuple[PluginRef, ...], path: tuple[str, ...], plugins: tuple[Plugin, ...]) -> Registry:
    known = {ref.entry_point for ref in refs}
    modules = [module_of(plugin) for plugin in plugins]
    given = [module for module in modules if getattr(module, "__name__", None) not in known]
    return build_registry([*refs, *given], disabled=(), strict=False)


def info_of(registry: Registry, plugin: Plugin) -> PluginInfo | None:
    """Return what the registry says of a plug-in that was handed to `registry_with`."""
    module = plugin.stem if isinstance(plugin, Path) else plugin
    if isinstance(module, ModuleType):
        module = module.__name__
    for info in registry.plugins:
        given = info.distribution == GIVEN
        if info.entry_point == module or (given and info.name.endswith(f"_{module}")):
            return info
    return next((info for info in registry.plugins if info.distribution == GIVEN), None)
