"""`olav bundle`: guides, formats and agents under one name and version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.main import LazyGroup
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal

COMMANDS = {
    "build": "olav_core.cli.bundle:build",
    "verify": "olav_core.cli.bundle:verify",
    "install": "olav_core.cli.bundle:install",
    "list": "olav_core.cli.bundle:list_bundles",
    "remove": "olav_core.cli.bundle:remove",
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def bundle() -> None:
    """Build, verify and install bundles of guides, formats and agents."""


@click.command()
@click.argument("source", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="The zip to write.")
@workspace_option
@json_option
def build(source: Path, output: Path | None, workspace: Path | None, as_json: bool) -> None:
    """Build the bundle of DIR: a zip with a manifest of sha256 checksums.

    DIR holds a bundle.yaml (name, version, description), and as in a workspace core/guides/, NAME/guides/,
    NAME/formats/; agents lie in agents/NAME/. What an installation would refuse is refused here. Equal
    folders make equal zips. Keep the digest: `olav bundle install --sha256` takes nothing else then.

    With --json: {"path", "name", "version", "digest", "files"}.
    """
    from olav_core.packages.bundles import build_bundle

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        path, manifest = build_bundle(memory, source, output)
    from olav_core.doctor.diagnosis import counted

    facts = {"path": str(path), "name": manifest.name, "version": manifest.version, "digest": manifest.digest}
    files = counted(len(manifest.files), "file")
    text = f"{path}: {manifest.name} {manifest.version}, {files}\ndigest {manifest.digest}"
    terminal.result({**facts, "files": len(manifest.files)}, text)


@click.command()
@click.argument("source", metavar="ZIP|NAME")
@workspace_option
@json_option
def verify(source: str, workspace: Path | None, as_json: bool) -> None:
    """Compare a bundle's files with its manifest: a zip, or the installed bundle NAME.

    Exit code 1 when a file is missing, changed or not in the manifest.

    With --json: {"name", "version", "description", "digest", "files", "differences": [line], "fault",
    "sound"}; only `olav bundle list` gives a fault.
    """
    from olav_core.packages.bundles import verify_bundle
    from olav_core.packages.manifest import check_identity

    terminal = Terminal(as_json=as_json)
    if Path(source).exists():
        found = verify_bundle(Path(source))
    else:
        check_identity(source, "0", where="olav bundle verify")
        with open_memory(workspace, terminal) as memory:
            found = verify_bundle(memory.workspace.bundles_directory / source)
    state = "is as its manifest says" if not found.differences else "is not as its manifest says:"
    terminal.result(
        found.to_dict(),
        f"{found.name} {found.version} ({found.files} files) {state}",
        *(f"  {line}" for line in found.differences),
        f"digest {found.digest}",
    )
    if found.differences:
        click.get_current_context().exit(FAILED)


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="ZIP")
@click.option("--sha256", metavar="DIGEST", help="Install nothing but the bundle with this digest.")
@click.option("--allow-downgrade", is_flag=True, help="Also an older version, or other contents of the same.")
@workspace_option
@json_option
def install(
    source: Path, sha256: str | None, allow_downgrade: bool, workspace: Path | None, as_json: bool
) -> None:
    """Install a bundle, or bring the installed one up to date: all of it or nothing.

    A bundle whose files differ from its manifest is refused, an older version too. What this version lacks
    is retired.

    With --json: the object of `olav bundle verify`, and "import": object of `olav kb import-guides`.
    """
    from olav_core.cli.kb_import import import_view
    from olav_core.packages.bundles import install_bundle

    terminal = Terminal(as_json=as_json)
    with (
        open_memory(workspace, terminal) as memory,
        terminal.progress(f"Installing {source.name}") as on_progress,
    ):
        found, report = install_bundle(
            memory, source, sha256=sha256, allow_downgrade=allow_downgrade, on_progress=on_progress
        )
    if as_json:
        terminal.result({**found.to_dict(), "import": report.to_dict()})
    else:
        terminal.print(f"Installed {found.name} {found.version}", *import_view(report))


@click.command("list")
@workspace_option
@json_option
def list_bundles(workspace: Path | None, as_json: bool) -> None:
    """List the installed bundles, each compared with its manifest.

    With --json: {"bundles": [object of `olav bundle verify`]}.
    """
    from olav_core.packages.bundles import list_bundles as installed

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        found = installed(memory.workspace)
    lines: list[Any] = []
    for each in found:
        lines.append(f"{each.name} {each.version}  {each.description or each.fault}".rstrip())
        lines += [f"  {line}" for line in each.differences]
    terminal.result(
        {"bundles": [each.to_dict() for each in found]},
        *(lines or ["No bundle is installed. `olav bundle install ZIP` installs one."]),
    )


@click.command()
@click.argument("name")
@workspace_option
@json_option
def remove(name: str, workspace: Path | None, as_json: bool) -> None:
    """Remove the bundle NAME, its agents, and exactly the memories that it brought.

    With --json: {"name", "removed"}.
    """
    from olav_core.doctor.diagnosis import memories
    from olav_core.packages.bundles import remove_bundle

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        removed = remove_bundle(memory, name)
    terminal.result({"name": name, "removed": removed}, f"Removed {name} and {memories(removed)}.")
