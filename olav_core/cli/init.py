"""`olav init`: a new workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core.cli.failure import fault_object
from olav_core.cli.options import embedder_options, json_option, workspace_option
from olav_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.specs import EmbedderSpec, Fault


@click.command()
@click.argument(
    "directory", type=click.Path(file_okay=False, path_type=Path), required=False, metavar="[DIR]"
)
@click.option("--embedder", default="e5", show_default=True, metavar="ID", help="What makes the vectors.")
@embedder_options
@click.option("--no-directives", is_flag=True, help="Leave out the guides that olav and plug-ins ship.")
@workspace_option
@json_option
def init(
    directory: Path | None,
    embedder: str,
    options: dict[str, Any],
    no_directives: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Make a workspace in DIR (default: here).

    Writes .olav/config.yaml and an empty store, after asking the embedder for its dimension. Guides and
    formats that lie in DIR/*/guides and DIR/*/formats already are imported, and those that olav and plug-ins
    ship for every workspace. An existing workspace is left as it is: `olav kb prime` updates what is shipped.

    With --json: {"workspace", "created", "config", "store", "embedder", "dimension", "guides", "formats",
    "shipped", "warnings", "faults"}; "shipped" counts the shipped directives.
    """
    import olav_core
    from olav_core.workspace import workspace_at

    terminal = Terminal(as_json=as_json)
    place = workspace_at(directory or workspace or Path())
    if place.config_path.exists():
        terminal.result(
            {"workspace": str(place.root), "created": False, "config": str(place.config_path)},
            f"{place.root} is a workspace already; nothing was changed.",
        )
        return
    with terminal.guarded(), olav_core.init(place.root, embedder=embedder, options=options) as memory:
        shipped, unsound = (0, []) if no_directives else _prime_shipped(memory, terminal)
        guides, formats, faults = prime(memory, terminal)
        faults += unsound
        warnings = _outer_warnings(place.root) + embedder_warnings(memory.registry.embedder(embedder))
        facts = {
            "workspace": str(place.root),
            "created": True,
            "config": str(place.config_path),
            "store": memory.store.uri,
            "embedder": embedder,
            "dimension": memory.embedder.dimension,
            "guides": guides,
            "formats": formats,
            "shipped": shipped,
            "warnings": warnings,
            "faults": [fault_object(fault) for fault in faults],
        }
    for warning in warnings:
        terminal.note(f"Warning: {warning}")
    for fault in faults:
        terminal.note(str(fault), style="red")
    if as_json:
        terminal.result(facts)
    else:
        terminal.print(*_view(facts, Path.cwd()))


def prime(memory: Memory, terminal: Terminal) -> tuple[int, int, list[Fault]]:
    """Import the guides and formats that lie in the workspace's folders; return (guides, formats, faults)."""
    root = memory.workspace.root
    counts: list[int] = []
    faults: list[Fault] = []
    for folder, bring in (("guides", memory.import_guides), ("formats", memory.import_formats)):
        count = 0
        for directory in sorted(path for path in root.glob(f"*/{folder}") if path.is_dir()):
            with terminal.progress(f"Importing {directory.relative_to(root)}") as on_progress:
                report = bring(directory, on_progress=on_progress)
            count += report.added + report.changed + report.unchanged + report.moved
            faults += report.faults
        counts.append(count)
    return counts[0], counts[1], faults


def _prime_shipped(memory: Memory, terminal: Terminal) -> tuple[int, list[Fault]]:
    from olav_core.packages.shipped import prime_directives

    with terminal.progress("Priming shipped directives") as on_progress:
        reports = prime_directives(memory, on_progress=on_progress)
    faults = [fault for report in reports for fault in report.faults]
    return sum(report.added for report in reports), faults


def _outer_warnings(root: Path) -> list[str]:
    from olav_core.workspace import DIRECTORY

    outer = next((folder for folder in root.resolve().parents if (folder / DIRECTORY).is_dir()), None)
    if outer is None:
        return []
    return [
        f"{root} lies inside the workspace {outer}: from here on commands run in {root} use the new, empty "
        f"one. For the other: `--workspace {outer}`. If you meant that one, remove {root / DIRECTORY}."
    ]


def embedder_warnings(spec: EmbedderSpec) -> list[str]:
    """Return what a user should know before filling a store with this embedder's vectors."""
    warnings = []
    if spec.languages and "zh" not in spec.languages:
        warnings.append(
            f"The embedder '{spec.id}' reads {', '.join(spec.languages)} only: Chinese memories will be "
            "found by their words alone, if at all. For Chinese use `--embedder e5`."
        )
    if spec.scale is None:
        warnings.append(
            f"The embedder '{spec.id}' has no measured distance scale: gates see its raw distances, which "
            "say little. Reflections may be injected off topic, or never. How to measure one: "
            "docs/howto-embedder.md."
        )
    return warnings


def _view(facts: dict[str, Any], here: Path) -> list[Any]:
    from rich.text import Text

    from olav_core.cli.view import facts_table
    from olav_core.doctor.diagnosis import counted

    root = Path(facts["workspace"])
    at = "" if root == here else f" --workspace {root}"
    shown = {name: facts[name] for name in ("config", "store", "embedder", "dimension")}
    if facts["guides"] or facts["formats"]:
        shown["imported"] = f"{counted(facts['guides'], 'guide')}, {counted(facts['formats'], 'format')}"
    if facts["shipped"]:
        shown["shipped"] = f"{counted(facts['shipped'], 'directive')} (olav kb list --origin directive)"
    steps = (
        (f'olav remember "R1 is the border router in Shanghai"{at}', "store a fact"),
        (f"olav kb import-guides DIR{at}", "bring *.guide.yaml files"),
        (f'olav recall "which router is the border?" --explain{at}', "see what a model would read, and why"),
    )
    lines = Text("\nNext:\n", style="bold")
    width = max(len(command) for command, _ in steps)
    for command, what in steps:
        lines.append(f"  {command.ljust(width)}", style="cyan").append(f"  {what}\n", style="not bold dim")
    return [Text.assemble(("Workspace ready: ", "bold green"), str(root)), facts_table(shown), lines]
