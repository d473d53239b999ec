"""The manifest of a bundle: its name and version, and the sha256 of every file in it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import asdict, frozen

from olav_core.errors import PackageError
from olav_core.packages.archive import name_fault
from olav_core.packages.skill import agent_name_fault

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,3}")


@frozen(kw_only=True)
class BundleManifest:
    """What a bundle says of itself. `files`: path -> sha256 in hex, of every file but the manifest."""

    name: str
    version: str
    description: str = ""
    files: Mapping[str, str]
    format: int = FORMAT

    @property
    def digest(self) -> str:
        """sha256 (hex) of the manifest: by it, a bundle can be known to be the one that somebody built."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """Return the manifest's one spelling: equal manifests are equal bytes."""
        values = {**asdict(self), "files": dict(sorted(self.files.items()))}
        return json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, raw: str, *, name: str) -> BundleManifest:
        """Return the manifest of a file; raises PackageError with what is wrong with it."""
        try:
            values: Any = json.loads(raw)
            json.dumps(values, ensure_ascii=False).encode()  # half a character has no bytes, so no digest
        except (ValueError, RecursionError) as error:
            raise PackageError(f"{name} is no JSON: {error}.") from None
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            found = values.get("format") if isinstance(values, dict) else None
            raise PackageError(
                f"{name} is of format {found!r}; this olav reads format {FORMAT}. Update olav."
            )
        files = values.get("files")
        sound = isinstance(files, dict) and all(
            isinstance(path, str) and re.fullmatch("[0-9a-f]{64}", str(digest)) and not name_fault(path)
            for path, digest in files.items()
        )
        unknown = set(values) - {"name", "version", "description", "files", "format"}
        # Name and version have no default: one that is missing is None, and no text either.
        told = (values.get("name"), values.get("version"), values.get("description", ""))
        texts = all(isinstance(value, str) for value in told)
        if not sound or not texts or unknown:
            raise PackageError(f"{name} is no bundle's manifest: build it with `olav bundle build`.")
        manifest = cls(**values)
        check_identity(manifest.name, manifest.version, where=name)
        return manifest


def check_identity(name: object, version: object, *, where: str) -> None:
    """Raise PackageError for a name that is no folder's, or a version that is not 1 to 4 numbers."""
    if fault := agent_name_fault(name):
        raise PackageError(f"{where}: the bundle's name {name!r} {fault}.")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise PackageError(
            f"{where}: version {version!r} must be numbers with dots, such as 1.4.0 (in quotes)."
        )


def version_key(version: str) -> tuple[int, ...]:
    """Return what versions compare by: 1.2 equals 1.2.0, and 1.10 comes after 1.9."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def hash_files(folder: Path) -> dict[str, str]:
    """Return path -> sha256 of the files below a folder, the manifest and hidden ones left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and str(name) != MANIFEST and not any(part.startswith(".") for part in name.parts):
            found[name.as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def differences(manifest: BundleManifest, found: Mapping[str, str]) -> list[str]:
    """Return a line per file that is missing, changed or not in the manifest; empty when all agree."""
    lines = [f"missing: {path}" for path in sorted(manifest.files.keys() - found.keys())]
    lines += [
        f"changed: {path}"
        for path in sorted(manifest.files.keys() & found.keys())
        if manifest.files[path] != found[path]
    ]
    return lines + [f"not in the manifest: {path}" for path in sorted(found.keys() - manifest.files.keys())]
