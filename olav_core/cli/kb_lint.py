"""`olav kb lint`: what is wrong with the guides, each with its mend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from olav_core.cli.failure import FAILED
from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@click.command()
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note", "never"]),
    default="warning",
    show_default=True,
    help="The least severity that gives exit code 1.",
)
@click.option("--min-recalls", type=click.IntRange(min=1), default=100, show_default=True,
              help="Recalls before a guide that never fired is told of.")  # fmt: skip
@click.option("--many", type=click.IntRange(min=2), default=5, show_default=True,
              help="Guides that may not share a keyword.")  # fmt: skip
@workspace_option
@json_option
def lint(fail_on: str, min_recalls: int, many: int, workspace: Path | None, as_json: bool) -> None:
    """Find guides that contradict, shadow one another or never fire.

    Rules: contradiction (error; one trigger, and opposite verbs, a prohibition against a demand, or other
    values), shadowed (warning; for its own keywords another guide always comes first), never_fired (warning;
    from the recall log), shared_keyword (warning), no_keywords (note; warning for load: on_intent).
    Contradictions and shadows are heuristics, read from the words. Exit code 1 from --fail-on on.

    With --json: {"guides", "recalls", "counts": {severity: n}, "findings": [{"rule", "severity", "message",
    "mend", "guides": [{"id", "name", "scope", "path"}], "heuristic"}], "notes"}.
    """
    from olav_core.lint.finding import SEVERITIES
    from olav_core.lint.lint import lint_guides

    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        report = lint_guides(memory, min_recalls=min_recalls, many=many)
    if as_json:
        terminal.result(report.to_dict())
    else:
        terminal.print(*_view(report.to_dict()))
    worst = report.worst()
    if worst is not None and fail_on != "never" and SEVERITIES.index(worst) <= SEVERITIES.index(fail_on):
        click.get_current_context().exit(FAILED)


def _view(found: dict[str, Any]) -> list[Any]:
    from rich.text import Text

    from olav_core.doctor.diagnosis import counted

    out: list[Any] = []
    for finding in found["findings"]:
        style = _STYLES[finding["severity"]]
        sure = ", by its words" if finding["heuristic"] else ""
        line = Text.assemble((f"{finding['severity']} ", style), (f"{finding['rule']}{sure}  ", "dim"))
        out.append(line.append(finding["message"]))
        out += [Text(f"    {each['path']}", style="dim") for each in finding["guides"][:4] if each["path"]]
        out.append(Text(f"    {finding['mend']}", style="cyan"))
    counts = ", ".join(counted(number, severity) for severity, number in found["counts"].items())
    out.append(Text(f"{counted(found['guides'], 'guide')}: {counts}", style="bold"))
    return out + [Text(note, style="dim") for note in found["notes"]]
