"""Discovery: the plug-ins that are installed (entry points) and those that lie in a workspace (files)."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from olav_core.hookspecs import ENTRY_POINT_GROUP
from olav_core.host.plugin import GIVEN, WORKSPACE, PluginRef, comparable_name

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint


def find_refs(plugin_dir: Path | None = None) -> tuple[PluginRef, ...]:
    """Return every plug-in found, ordered by distribution and name; nothing is imported.

    `plugin_dir` (a workspace's `.olav/plugins`) adds its `*.py`, except names that begin with `_`.
    """
    refs = [*_installed(), *_files(plugin_dir)]
    return tuple(sorted(refs, key=lambda ref: (ref.distribution, ref.name, ref.entry_point)))


def given_refs(plugins: Iterable[object]) -> tuple[PluginRef, ...]:
    """Return refs for modules or objects that a caller hands over; refs pass through, order is kept."""
    refs: list[PluginRef] = []
    taken: set[str] = set()
    for plugin in plugins:
        if isinstance(plugin, PluginRef):
            refs.append(plugin)
            continue
        base = plugin.__name__ if isinstance(plugin, (ModuleType, type)) else type(plugin).__name__
        name, n = base, 1
        while name in taken:
            n += 1
            name = f"{base}-{n}"
        taken.add(name)
        refs.append(PluginRef(name=name, distribution=GIVEN, entry_point=base, load=partial(_same, plugin)))
    return tuple(refs)


def may_implement(ref: PluginRef, hooks: Iterable[str]) -> bool:
    """Whether the plug-in may implement one of these hooks, told from its source without importing it.

    `olav --help` needs commands only, and importing every plug-in would cost most of its time. False only
    when the module's own source names none of the hooks and takes no names over with `import *`.
    """
    module, _, attribute = ref.entry_point.partition(":")
    if ref.distribution == GIVEN or attribute.strip():
        return True
    source = ref.file if ref.distribution == WORKSPACE else _source_of(module.partition("[")[0].strip())
    if source is None:
        return True
    try:
        text = source.read_bytes()
    except OSError:
        return True
    return b"import *" in text or any(hook.encode() in text for hook in hooks)


def stale_entry_points() -> dict[str, tuple[str, ...]]:
    """Return, per distribution installed in editable mode, the entry-point names its pyproject.toml has
    gained since it was installed: they stay invisible until `pip install -e` runs again."""
    import tomllib
    from importlib.metadata import distributions

    stale = {}
    for distribution in distributions():
        root = _editable_root(distribution)
        if root is None:
            continue
        try:
            project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
            declared = dict(project["project"]["entry-points"][ENTRY_POINT_GROUP])
        except (OSError, ValueError, LookupError, TypeError):
            continue
        known = {
            (point.name, point.value) for point in distribution.entry_points.select(group=ENTRY_POINT_GROUP)
        }
        missing = tuple(sorted(name for name, value in declared.items() if (name, value) not in known))
        if missing:
            stale[comparable_name(distribution.metadata["Name"])] = missing
    return stale


def _installed() -> Iterator[PluginRef]:
    from importlib.metadata import entry_points

    try:
        points = entry_points(group=ENTRY_POINT_GROUP)
    except Exception:  # one unreadable entry_points.txt anywhere makes the whole call fail
        yield from _installed_one_by_one()
        return
    names: dict[int, tuple[str, str]] = {}  # each look at a distribution's metadata parses it again
    for point in points:
        distribution = point.dist
        if distribution is None:
            continue
        if id(distribution) not in names:
            names[id(distribution)] = _name_and_version(distribution)
        yield _ref(point, *names[id(distribution)])


def _installed_one_by_one() -> Iterator[PluginRef]:
    from importlib.metadata import distributions

    seen = set()
    for distribution in distributions():
        name, version = _name_and_version(distribution)
        if name in seen:  # the first of a name on sys.path is the one that imports
            continue
        seen.add(name)
        try:
            points = list(distribution.entry_points.select(group=ENTRY_POINT_GROUP))
        except Exception as error:
            if ENTRY_POINT_GROUP in (distribution.read_text("entry_points.txt") or ""):
                yield PluginRef(
                    name="entry_points.txt",
                    distribution=name,
                    version=version,
                    entry_point="entry_points.txt",
                    load=partial(_refuse, f"its entry_points.txt cannot be read ({error})"),
                )
            continue
        yield from (_ref(point, name, version) for point in points)


def _ref(point: EntryPoint, distribution: str, version: str) -> PluginRef:
    well_formed = point.pattern.match(point.value)
    load = (
        point.load if well_formed else partial(_refuse, f"{point.value!r} is not 'module' or 'module:object'")
    )
    return PluginRef(
        name=point.name, distribution=distribution, version=version, entry_point=point.value, load=load
    )


def _same(plugin: object) -> object:
    return plugin


def _refuse(reason: str) -> object:
    raise ImportError(reason)


def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    metadata = distribution.metadata
    return comparable_name(metadata["Name"] or "unnamed"), metadata["Version"] or ""


def _files(plugin_dir: Path | None) -> Iterator[PluginRef]:
    if plugin_dir is None or not plugin_dir.is_dir():
        return
    for path in sorted(plugin_dir.glob("*.py")):
        if not path.name.startswith("_") and path.is_file():
            yield PluginRef(
                name=path.stem,
                distribution=WORKSPACE,
                entry_point=path.name,
                file=path,
                load=partial(load_file, path),
            )


def load_file(path: Path) -> ModuleType:
    """Import one file as a module of its own name, derived from its path; sys.path stays as it is.

    The module is in sys.modules (attrs resolves annotations there) and leaves no byte code behind.
    """
    digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:12]
    name = f"_olav_workspace_{digest}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise ImportError(f"{path} is not a Python source file")
    module = module_from_spec(spec)
    code: Any = spec.loader.source_to_code(path.read_bytes(), str(path))
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _source_of(module: str) -> Path | None:
    root, *rest = module.split(".")
    try:
        spec = find_spec(root)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin and spec.origin.endswith(tuple(SOURCE_SUFFIXES)) else None
    for location in spec.submodule_search_locations or ():
        base = Path(location, *rest)
        if any(base.with_name(base.name + suffix).exists() for suffix in EXTENSION_SUFFIXES):
            return None
        for candidate in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if candidate.is_file():
                return candidate
    return None


def _editable_root(distribution: Distribution) -> Path | None:
    import json
    from urllib.parse import unquote, urlsplit

    text = distribution.read_text("direct_url.json")
    if not text:
        return None
    try:
        origin = json.loads(text)
        url = urlsplit(origin["url"])
        editable = origin.get("dir_info", {}).get("editable") is True
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return Path(unquote(url.path)) if editable and url.scheme == "file" else None
