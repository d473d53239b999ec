"""A skill folder: what its SKILL.md or AGENT.md says about the agent, and which files it brings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, get_args

from attrs import frozen

from olav_core.errors import PackageError, RecordError
from olav_core.importing.yaml_document import guess_encoding
from olav_core.packages.front_matter import split_front_matter
from olav_core.records import check_scope

#: The file that makes a folder a skill.
SKILL_FILES: Final = ("SKILL.md", "AGENT.md")
#: Folders with a meaning; others are kept as they are.
REFERENCES: Final = "references"
#: `off`: reference files are the agent's own business.
Mode = Literal["always", "on_intent", "off"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
#: Names that mean something else as a scope.
RESERVED: Final = frozenset({"core", "global", "team", "agents"})
#: A file of context that is larger fits no budget.
MAX_FILE_BYTES: Final = 1024 * 1024
_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
_KEYS = ("name", "description", "version", "static_context", "static_context_mode")


@frozen(kw_only=True)
class StaticFile:
    """A file that `static_context` names. `path` is relative to the skill's folder."""

    path: str
    mode: Mode = "always"
    keywords: tuple[str, ...] = ()
    description: str = ""


@frozen(kw_only=True)
class Skill:
    """An agent's folder. `file` is its SKILL.md or AGENT.md, `body` what stands below the front matter.

    `static`: the files that `static_context` names, in order. `reference_mode`: how files in `references/`
    that it does not name are loaded, by `static_context_mode`.
    """

    folder: Path
    file: str
    name: str
    body: str
    description: str = ""
    version: str = ""
    static: tuple[StaticFile, ...] = ()
    reference_mode: Mode = "off"

    def references(self) -> list[StaticFile]:
        """Return the files in `references/` that `static_context` does not name, by path."""
        named = {each.path for each in self.static}
        root = self.folder / REFERENCES
        if root.is_symlink():  # as for the files in it: what lies elsewhere is not the agent's
            return []
        files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        paths = [path.relative_to(self.folder).as_posix() for path in files if not _hidden(path, root)]
        return [StaticFile(path=path, mode=self.reference_mode) for path in paths if path not in named]


def agent_name_fault(name: object) -> str:
    """Return what is wrong with an agent's name, empty when it is sound: it names a folder and a scope."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.endswith("."):
        return "must be letters, digits, '_', '-' and '.', at most 64, and begin with a letter or digit"
    if len(name.encode()) > 180:
        return "is longer than 180 bytes"
    if unicodedata.normalize("NFC", name) != name:
        return "must be in Unicode's composed form (NFC)"
    if name.casefold() in RESERVED:
        return f"is reserved, like {', '.join(sorted(RESERVED - {name.casefold()}))}"
    try:
        check_scope(name)
    except RecordError as error:
        return str(error)
    return ""


def find_skill_file(folder: Path) -> Path | None:
    """Return the folder's SKILL.md or AGENT.md, None when it has neither; raises PackageError for both."""
    found = [folder / name for name in SKILL_FILES if (folder / name).is_file()]
    if len(found) > 1:
        raise PackageError(f"{folder} has both {' and '.join(SKILL_FILES)}. Keep one of them.")
    return found[0] if found else None


def read_skill(folder: Path, *, name: str | None = None) -> Skill:
    """Return the skill in a folder; with `name` the agent is known, and its front matter need not name it.

    Raises PackageError with every fault of its SKILL.md or AGENT.md.
    """
    file = find_skill_file(folder)
    if file is None:
        raise PackageError(
            f"{folder} has neither {' nor '.join(SKILL_FILES)}, so it is no skill folder. Name one that is."
        )
    values, body = split_front_matter(read_text(file), name=file.name)
    faults: list[str] = []
    given = values.get("name") if name is None else name
    if name is None and (message := agent_name_fault(given)):
        faults.append(f"name {given!r} {message}." if given is not None else "key 'name' is missing.")
    for key in ("description", "version"):
        if not isinstance(values.get(key, ""), (str, int, float)):
            faults.append(f"{key} must be text, not {type(values[key]).__name__}.")
    for key in values:
        # Other keys are other tools'; only a slip of one of ours would go unnoticed.
        if key not in _KEYS and (near := get_close_matches(key, _KEYS, n=1, cutoff=0.85)):
            faults.append(f"unknown key '{key}'. Did you mean '{near[0]}'?")
    mode = values.get("static_context_mode", "off")
    if mode is False:  # YAML reads a bare `off` as false
        mode = "off"
    if mode not in MODES:
        faults.append(f"static_context_mode {mode!r} is none of {', '.join(MODES)}.")
    static = _static(folder, values.get("static_context"), faults)
    if faults:
        lines = "\n".join(f"  {file.name}: {fault}" for fault in faults)
        raise PackageError(f"{len(faults)} fault(s) in {folder}:\n{lines}\nMend them and try again.")
    return Skill(
        folder=folder,
        file=file.name,
        name=str(given),
        body=body,
        description=str(values.get("description", "")).strip(),
        version=str(values.get("version", "")).strip(),
        static=tuple(static),
        reference_mode=mode,
    )


def read_text(path: Path) -> str:
    """Return the text of a file of context or raise PackageError: not UTF-8, too large, unreadable."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise PackageError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes. Split it.")
        raw = path.read_bytes()
    except OSError as error:
        raise PackageError(f"{path} cannot be read: {error.strerror or error}.") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PackageError(f"{path} is not UTF-8, it looks like {guess_encoding(raw)}. Convert it.") from None


def _static(folder: Path, given: Any, faults: list[str]) -> list[StaticFile]:
    if given is None:
        return []
    out: list[StaticFile] = []
    for entry in given if isinstance(given, list) else [given]:
        values = {"file": entry} if isinstance(entry, str) else entry
        if not isinstance(values, Mapping) or not isinstance(values.get("file"), str):
            faults.append(f"static_context: {entry!r} is neither a path nor a mapping with `file`.")
            continue
        path, mode = values["file"], values.get("mode", "always")
        unknown = sorted(set(map(str, values)) - {"file", "mode", "keywords", "description"})
        keywords = values.get("keywords", [])
        if unknown:
            faults.append(f"static_context {path}: unknown key '{unknown[0]}'.")
        elif fault := _path_fault(folder, path):
            faults.append(f"static_context {path}: {fault}")
        elif mode not in ("always", "on_intent"):
            faults.append(f"static_context {path}: mode {mode!r} is neither always nor on_intent.")
        elif not isinstance(keywords, list):
            faults.append(f"static_context {path}: keywords must be a list.")
        elif PurePosixPath(path).as_posix() in {each.path for each in out}:
            faults.append(f"static_context names {path} twice.")
        else:
            words = tuple(str(word).strip() for word in keywords if str(word).strip())
            said = str(values.get("description", ""))
            file = StaticFile(
                path=PurePosixPath(path).as_posix(),
                mode="always" if mode == "always" else "on_intent",
                keywords=words,
                description=said,
            )
            out.append(file)
    return out


def _path_fault(folder: Path, path: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path or not path.strip():
        return "must be a path inside the folder, with forward slashes."
    target = folder / pure
    if not target.is_file():
        return "there is no such file."
    if not target.resolve().is_relative_to(folder.resolve()):
        return "leads out of the folder by a link."
    return ""


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)
