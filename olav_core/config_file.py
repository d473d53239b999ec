"""The configuration file: YAML in, YAML out. A key that is given twice is a fault, not a silent last-wins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from olav_core.atomic_write import write_atomically
from olav_core.errors import ConfigError

if TYPE_CHECKING:
    import yaml

_TEMPLATE: Final = """\
# Settings of this workspace. What is left out has its default; a misspelt key is an error.
# For one process: OLAV_<SECTION>_<KEY>, as in OLAV_RECALL_TIER=small or OLAV_RECALL_TOKEN_BUDGET__SMALL=300.

# Makes the vectors. Another embedder needs other vectors: `olav kb reembed --to ID`.
{embedder}

recall:
  # The model that reads the memories: small (gets 1), medium (2) or large (13);
  # or name it, as in `model: qwen3-8b`, and its size is read from the name.
  # tier: small

# agents:
#   netops: {teams: [ops], model: qwen3-8b}

# categories:
#   reflection: {quota: 1, cap: 1, gates: [{id: distance, max: 0.65}], ttl_days: 30}
"""


def read(path: Path) -> dict[str, Any]:
    """Return the file's mapping; empty when the file is absent or empty. Raises ConfigError with the line."""
    import yaml

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}. Check its permissions.") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _refuse_duplicates(root, path, set())
        values = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError(
            f"{path}{line}: bad YAML: {error.problem or error.context}. Mend that line."
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path}: bad YAML: {error}. Mend the file.") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(
            f"{path}: expected `section:` lines, got a {type(values).__name__}. See `olav init`."
        )
    return _without_empty(values)


def write_default(path: Path, *, embedder: str, options: Mapping[str, Any]) -> None:
    """Write the commented template to `path`; raises ConfigError when the file exists or cannot be made."""
    import yaml

    chosen: dict[str, Any] = {"id": embedder, **({"options": dict(options)} if options else {})}
    section = yaml.safe_dump({"embedder": chosen}, allow_unicode=True, sort_keys=False).rstrip()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, _TEMPLATE.replace("{embedder}", section), exclusive=True)
    except FileExistsError:
        raise ConfigError(f"{path} exists and is left alone. Edit it, or remove it first.") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}. Choose a writable folder.") from error


def save_embedder(path: Path, embedder: str, options: Mapping[str, Any]) -> None:
    """Replace the `embedder` section of `path` in one step, leaving every other line as it is.

    Raises ConfigError when the file cannot be read or written.
    """
    import yaml

    chosen: dict[str, Any] = {"id": embedder, **({"options": dict(options)} if options else {})}
    section = yaml.safe_dump({"embedder": chosen}, allow_unicode=True, sort_keys=False)
    read(path)  # a file with faults is refused before it is touched
    try:
        text = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        start = end = 0
        for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
            if key.value == "embedder":
                start, end = key.start_mark.index, value.end_mark.index
                section = section if value.end_mark.column == 0 else section.rstrip("\n")
        write_atomically(path, text[:start] + section + text[end:])
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}. Set `embedder: {{id: {embedder}}}` in it by hand."
        ) from error


def _without_empty(values: dict[Any, Any]) -> dict[Any, Any]:
    """A section whose lines are all commented out is YAML's null, and means: the defaults."""
    kept = {key: value for key, value in values.items() if value is not None}
    for name in ("agents", "categories"):
        if isinstance(kept.get(name), dict):
            kept[name] = {key: {} if value is None else value for key, value in kept[name].items()}
    return kept


def _refuse_duplicates(node: yaml.Node, path: Path, seen: set[int]) -> None:
    import yaml

    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, path, seen)
    elif isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode):
                if key.value in lines:
                    raise ConfigError(
                        f"{path}:{line}: {key.value!r} is given twice, first in line {lines[key.value]}."
                    )
                lines[key.value] = line
            _refuse_duplicates(value, path, seen)
