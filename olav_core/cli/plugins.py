"""`olav plugins`: what is installed, what it brings, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core.cli.extension import survey
from olav_core.cli.failure import FAILED
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from olav_core.host.plugin import PluginFault, PluginInfo

_STATES = {"loaded": "green", "broken": "bold red", "disabled": "dim"}


@click.command()
@click.option("--long", "-l", is_flag=True, help="Add file, entry point and hooks.")
@workspace_option
@json_option
def plugins(long: bool, workspace: Path | None, as_json: bool) -> None:
    """Show every plug-in: where it comes from, what it brings, its state.

    Exit code 1 when any has a fault.

    With --json: {"plugins": [{"name", "distribution", "version", "entry_point", "file", "state",
    "ids": {kind: [id]}, "disabled_ids", "hooks", "import_ms"}], "faults": [{"plugin", "distribution",
    "version", "entry_point", "kind", "spec_id", "message", "mend", "warning"}]}.
    """
    terminal = Terminal(as_json=as_json)
    registry = survey(workspace)
    infos, faults = list(registry.plugins), list(registry.faults)
    if as_json:
        objects = {
            "plugins": [_plugin(info) for info in infos],
            "faults": [_fault(fault) for fault in faults],
        }
        terminal.result(objects)
    else:
        terminal.print(*_view(infos, faults, long))
    if any(not fault.warning for fault in faults):
        click.get_current_context().exit(FAILED)


def _plugin(info: PluginInfo) -> dict[str, Any]:
    names = ("name", "distribution", "version", "entry_point", "state")
    return {name: getattr(info, name) for name in names} | {
        "file": str(info.file) if info.file else None,
        "ids": {kind: list(ids) for kind, ids in info.ids.items()},
        "disabled_ids": list(info.disabled_ids),
        "hooks": list(info.hooks),
        "import_ms": round(info.seconds * 1000, 2),
    }


def _fault(fault: PluginFault) -> dict[str, Any]:
    names = ("plugin", "distribution", "version", "entry_point", "kind", "spec_id", "message", "mend")
    return {name: getattr(fault, name) for name in names} | {"warning": fault.warning}


def _view(infos: list[PluginInfo], faults: list[PluginFault], long: bool) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    from olav_core.doctor.diagnosis import counted

    out: list[Any] = []
    for source in dict.fromkeys((info.distribution, info.version) for info in infos):
        mine = [info for info in infos if (info.distribution, info.version) == source]
        spent = sum(info.seconds for info in mine) * 1000
        head = (
            (" ".join(source).strip(), "bold"),
            (f"  {counted(len(mine), 'plug-in')}, imported in {spent:.0f} ms", "dim"),
        )
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, style="cyan")
        table.add_column(overflow="fold")
        table.add_column(justify="right", style="dim", no_wrap=True)
        for info in mine:
            brings = Text(" · ").join(_ids(kind, ids) for kind, ids in info.ids.items())
            if info.disabled_ids:
                brings.append(f"  off: {', '.join(info.disabled_ids)}", style="dim")
            if long:
                brings.append(f"\n{info.entry_point} — {info.file or 'no file'}", style="dim")
                brings.append(f"\n{', '.join(info.hooks) or 'no hooks'}", style="dim")
            state = Text(info.state, style=_STATES[info.state])
            table.add_row(state, info.name, brings, f"{info.seconds * 1000:.1f} ms")
        out += [Text.assemble(*head), table, Text()]
    if not faults:
        return [*out, Text("No faults.", style="green")]
    for fault in faults:
        style = "yellow" if fault.warning else "bold red"
        spec = f" · {fault.kind}: {fault.spec_id}" if fault.kind else ""
        where = f"{fault.label or fault.plugin}{spec}"
        out += [Text.assemble((where, style), f"\n  {fault.message}\n  ", (f"Mend: {fault.mend}", "cyan"))]
    return out


def _ids(kind: str, ids: tuple[str, ...]) -> Any:
    from rich.text import Text

    return Text.assemble((f"{kind}: ", "dim"), ", ".join(ids))
