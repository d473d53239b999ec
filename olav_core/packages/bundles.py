"""Directive bundles: guides, formats and agents under one name and version, built, verified, installed."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import asdict, frozen

from olav_core.atomic_write import replacing
from olav_core.errors import OlavError, PackageError
from olav_core.importing.directory import import_directory
from olav_core.importing.report import ImportReport
from olav_core.packages.agents import folders_in, list_agents
from olav_core.packages.archive import unpack
from olav_core.packages.installer import Installer
from olav_core.packages.manifest import (
    MANIFEST,
    BundleManifest,
    check_identity,
    differences,
    hash_files,
    version_key,
)
from olav_core.packages.shipped import directive_importers
from olav_core.packages.skill import read_skill, read_text
from olav_core.workspace import AGENTS, Workspace

if TYPE_CHECKING:
    from olav_core.memory import Memory

KIND: Final = "bundles"
#: In the folder that a bundle is built from: its name, version and description.
SOURCE_FILE: Final = "bundle.yaml"
SUFFIX: Final = ".olav-bundle.zip"
#: The earliest time that a zip can hold: equal contents make equal zips.
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@frozen(kw_only=True)
class Verification:
    """What `verify_bundle` found. `differences` is empty when every file is as the manifest says.

    `fault`, in a list only, says why an installed folder cannot be read as a bundle; the fields between it
    and the folder's name are empty then.
    """

    name: str
    version: str = ""
    description: str = ""
    digest: str = ""
    files: int = 0
    differences: tuple[str, ...] = ()
    fault: str = ""

    def to_dict(self) -> dict[str, Any]:
        sound = not self.differences and not self.fault
        return {**asdict(self), "differences": list(self.differences), "sound": sound}


def build_bundle(memory: Memory, source: Path, target: Path | None = None) -> tuple[Path, BundleManifest]:
    """Build the bundle of a folder; return the zip and its manifest. Equal folders make equal zips.

    Everything that an installation would refuse is refused here, too: PackageError (bundle.yaml, a skill, a
    link), ImportFaultsError (a guide or format). `memory` gives the importers; nothing is written to it.
    """
    import yaml

    if not (source / SOURCE_FILE).is_file():
        raise PackageError(f"{source} has no {SOURCE_FILE} with `name` and `version`. Write one.")
    try:
        about = yaml.load(read_text(source / SOURCE_FILE), yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise PackageError(f"{source / SOURCE_FILE} is no YAML: {error}") from None
    if not isinstance(about, dict) or set(about) - {"name", "version", "description"}:
        raise PackageError(f"{source / SOURCE_FILE} must hold name, version and if wanted description only.")
    check_identity(about.get("name"), about.get("version"), where=str(source / SOURCE_FILE))
    with tempfile.TemporaryDirectory(prefix="olav-bundle-") as scratch:
        folder = unpack(source, Path(scratch, "bundles", str(about["name"])))
        (folder / SOURCE_FILE).unlink()
        _check_contents(memory, folder, str(source))
        manifest = BundleManifest(
            name=about["name"],
            version=about["version"],
            description=str(about.get("description", "")).strip(),
            files=hash_files(folder),
        )
        path = target or Path(f"{manifest.name}-{manifest.version}{SUFFIX}")
        _pack(folder, manifest, path)
    return path, manifest


def verify_bundle(source: Path) -> Verification:
    """Compare a bundle's zip, or an installed bundle's folder, with its manifest; raises PackageError."""
    if source.is_dir():
        return _verified(source)
    with _unpacked(source) as folder:
        return _verified(folder)


def install_bundle(
    memory: Memory,
    source: Path,
    *,
    sha256: str | None = None,
    allow_downgrade: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Verification, ImportReport]:
    """Install a bundle's zip, or bring the installed one up to date, whole or not at all.

    `sha256`: the digest that `olav bundle build` gave; another one is refused. An older version, or another
    content under the same version, needs `allow_downgrade`. Raises PackageError for a file that is not as the
    manifest says, and what `install_agent` raises.
    """
    work = Installer(memory, KIND)
    with work.at_work():
        token, raw = work.journal.stage("raw", "package")
        folder = unpack(source, raw)
        found = _verified(folder)
        if found.differences:
            lines = "\n".join(f"  {line}" for line in found.differences)
            raise PackageError(
                f"{source} is not as its manifest says:\n{lines}\nGet it again; nothing was installed."
            )
        if sha256 is not None and sha256.lower() != found.digest:
            raise PackageError(
                f"{source} has the digest {found.digest}, not {sha256}. Get it again; nothing was installed."
            )
        _refuse_older(work.place(found.name), found, allow_downgrade)
        _refuse_agents(memory.workspace, folder, found.name)
        staged = work.journal.staged(token, KIND, found.name)
        staged.parent.mkdir(parents=True)
        os.rename(folder, staged)
        work.check(found.name, staged, source)
        return found, work.install(found.name, token, staged, on_progress=on_progress)


def remove_bundle(memory: Memory, name: str) -> int:
    """Remove an installed bundle, its agents, and exactly the rows that it brought; return their number."""
    check_identity(name, "0", where="olav bundle remove")
    work = Installer(memory, KIND)
    with work.at_work():
        return len(work.remove(name))


def list_bundles(workspace: Workspace) -> list[Verification]:
    """Return the installed bundles, each compared with its manifest."""
    return [_listed(folder) for folder in folders_in(workspace.bundles_directory)]


def _listed(folder: Path) -> Verification:
    try:
        return _verified(folder)
    except (OlavError, OSError) as error:
        return Verification(name=folder.name, fault=str(error))


def _verified(folder: Path) -> Verification:
    if not (folder / MANIFEST).is_file():
        raise PackageError(
            f"{folder.name} has no {MANIFEST}: it is no bundle. Build it: `olav bundle build`."
        )
    manifest = BundleManifest.from_json(read_text(folder / MANIFEST), name=MANIFEST)
    return Verification(
        name=manifest.name,
        version=manifest.version,
        description=manifest.description,
        digest=manifest.digest,
        files=len(manifest.files),
        differences=tuple(differences(manifest, hash_files(folder))),
    )


@contextmanager
def _unpacked(source: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="olav-bundle-") as scratch:
        yield unpack(source, Path(scratch, "bundle"))


def _check_contents(memory: Memory, folder: Path, shown: str) -> None:
    for agent in sorted((folder / AGENTS).iterdir()) if (folder / AGENTS).is_dir() else []:
        skill = read_skill(agent)
        if skill.name != agent.name:
            raise PackageError(
                f"{shown}: the folder {AGENTS}/{agent.name} holds the agent {skill.name!r}. Name them alike."
            )
    # Read only: what matters here is that every file can be read, not what the store holds.
    report = import_directory(
        memory, folder, importers=directive_importers(memory), dry_run=True, yields=True, home=folder
    )
    report.raise_for_faults()
    if not report.files:
        raise PackageError(f"{shown} holds no guide and no format. See docs/layered-context.md.")


def _pack(folder: Path, manifest: BundleManifest, target: Path) -> None:
    """Write the zip in one step: files in order, with one time and one mode."""
    try:
        with replacing(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            contents = {MANIFEST: manifest.to_json().encode()}
            contents |= {name: (folder / name).read_bytes() for name in manifest.files}
            for name in sorted(contents):
                entry = zipfile.ZipInfo(name, date_time=_EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system, entry.external_attr = 3, 0o100644 << 16
                archive.writestr(entry, contents[name])
    except OSError as error:
        raise PackageError(
            f"{target} cannot be written: {error.strerror}. Choose another with -o."
        ) from error


def _refuse_older(place: Path, found: Verification, allowed: bool) -> None:
    if allowed or not (place / MANIFEST).is_file():
        return
    installed = BundleManifest.from_json(read_text(place / MANIFEST), name=str(place / MANIFEST))
    here, there = version_key(installed.version), version_key(found.version)
    if there < here:
        raise PackageError(
            f"{found.name} {installed.version} is installed, {found.version} is older. Allow it with "
            "--allow-downgrade."
        )
    if there == here and installed.digest != found.digest:
        raise PackageError(
            f"{found.name} {installed.version} is installed with other contents. Build it under a new "
            "version, or allow it with --allow-downgrade."
        )


def _refuse_agents(workspace: Workspace, folder: Path, bundle: str) -> None:
    if not (folder / AGENTS).is_dir():
        return
    brought = {path.name for path in (folder / AGENTS).iterdir()}
    for name in sorted(brought):
        read_skill(folder / AGENTS / name)
    for agent in list_agents(workspace):
        if agent.name in brought and agent.bundle != bundle:
            by = f"the bundle {agent.bundle!r}" if agent.bundle else "`olav agent install`"
            raise PackageError(f"The agent {agent.name!r} is installed already, by {by}. Remove that first.")
