"""`olav calibrate`: find the gates' thresholds on the rows and questions of this store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from olav_core.cli.options import json_option, workspace_option
from olav_core.cli.session import open_memory
from olav_core.cli.terminal import Terminal
from olav_core.errors import UnknownIdError, WorkspaceError

if TYPE_CHECKING:
    from olav_core.calibration.calibrating import CalibrationReport
    from olav_core.calibration.separation import Separation, Share
    from olav_core.memory import Memory
    from olav_core.store.calibrations import AppliedCalibration

_BARS = " ▁▂▃▄▅▆▇█"


@click.command()
@click.option(
    "--golden",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.jsonl",
    help='Real questions: {"query": …, "relevant": [id]} a line.',
)
@click.option("--apply", "apply_it", is_flag=True, help="Use the scale and the recommended thresholds.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the histograms to a page."
)
@click.option("--history", is_flag=True, help="Show what was applied, and measure nothing.")
@click.option("--revert", type=int, metavar="VERSION", help="Apply version VERSION again; 0: as shipped.")
@workspace_option
@json_option
def calibrate(
    golden: Path | None,
    apply_it: bool,
    html: Path | None,
    history: bool,
    revert: int | None,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Measure how well distances tell answers from noise here, and which gate thresholds follow.

    Questions with a known answer (--golden, else what guides, patterns and lessons say they answer) and 208
    shipped off-topic ones go through recall up to the gates. Each gate that compares a number gets its
    histograms, the AUC, and a threshold that injects on at most 5 % of off-topic questions and keeps at least
    75 % of the answers, or the advice not to gate. Nothing changes without --apply; gates that the
    configuration sets itself stay as they are. See docs/calibration.md.

    With --json: {"scale", "questions": {category: n}, "off_topic", "gates": [{"category", "gate", "max",
    "recommended", "kept", "injected", "auc", "auc_crossed", "gap", "advice", "histogram"}], "applied":
    version or null}; with --history or --revert: {"versions": [{"version", "applied_at", "in_use", "scale",
    "thresholds"}]}.
    """
    if sum((history, revert is not None, apply_it)) > 1:
        raise click.UsageError("Give one of --apply, --history and --revert.")
    terminal = Terminal(as_json=as_json)
    with open_memory(workspace, terminal) as memory:
        if history or revert is not None:
            if revert is not None:
                _revert(memory, revert)
            versions = memory.store.calibrations.all()
            in_use = memory.store.calibrations.current()
            out = {"versions": [_version(each, in_use) for each in versions]}
            terminal.result(out, *([] if as_json else _history_view(out["versions"])))
            return
        with terminal.progress("Asking") as on_progress:
            report = memory.calibrate(golden, on_progress=on_progress)
        if html is not None:  # before anything is applied: a page that cannot be written changes nothing
            _write_page(report, html)
        applied = memory.apply_calibration(report.calibration()).version if apply_it else None
        terminal.result(
            {**_json(report), "applied": applied}, *([] if as_json else _view(report, golden, applied))
        )


def _write_page(report: CalibrationReport, path: Path) -> None:
    from olav_core.atomic_write import write_atomically
    from olav_core.calibration.page import page

    try:
        write_atomically(path, page(report))
    except OSError as error:
        raise WorkspaceError(
            f"{path} cannot be written: {error.strerror}. Name another file; nothing was applied."
        ) from error


def _revert(memory: Memory, version: int) -> None:
    from olav_core.store.calibrations import Calibration

    known = {each.version: each for each in memory.store.calibrations.all()}
    if version and version not in known:
        raise UnknownIdError(
            f"there is no calibration {version}. `olav calibrate --history` lists them; 0 is what ships."
        )
    memory.apply_calibration(known[version] if version else Calibration(fingerprint=memory.store.fingerprint))


def _version(each: AppliedCalibration, in_use: AppliedCalibration | None) -> dict[str, Any]:
    return {
        "version": each.version,
        "applied_at": each.applied_at.isoformat(),
        "in_use": in_use is not None and each.version == in_use.version,
        "scale": _scale(each),
        "thresholds": {name: dict(gates) for name, gates in each.thresholds.items()},
    }


def _scale(of: Any) -> dict[str, Any] | None:
    scale = of.scale
    if scale is None:
        return None
    return {"hit": scale.hit, "noise": scale.noise, "pool": scale.pool, "source": scale.source}


def _json(report: CalibrationReport) -> dict[str, Any]:
    return {
        "scale": _scale(report),
        "questions": dict(report.questions),
        "off_topic": report.off_topic,
        "gates": [_gate(each) for each in report.separations],
    }


def _gate(each: Separation) -> dict[str, Any]:
    threshold = each.threshold if each.recommended is None else each.recommended
    edges, counts = each.histogram()
    gap = each.gap
    return {
        "category": each.category,
        "gate": each.gate,
        "max": each.threshold,
        "recommended": each.recommended,
        "kept": _share(each.kept(threshold)),
        "injected": _share(each.injected(threshold)),
        "auc": round(each.auc, 4),
        "auc_crossed": round(each.auc_crossed, 4),
        "gap": round(gap, 4) if abs(gap) != float("inf") and gap == gap else None,
        "advice": each.advice,
        "histogram": {"edges": [round(edge, 4) for edge in edges], **counts},
    }


def _share(share: Share) -> dict[str, Any]:
    return {
        "share": round(share.value, 4),
        "low": round(share.low, 4),
        "high": round(share.high, 4),
        "n": share.n,
    }


def _view(report: CalibrationReport, golden: Path | None, applied: int | None) -> list[Any]:
    from rich.text import Text

    asked = sum(report.questions.values())
    out: list[Any] = [Text(f"{asked} questions with a known answer, {report.off_topic} off-topic ones.")]
    if golden is None:
        note = "The questions are the memories' own words: people's are harder. Give --golden for real ones."
        out.append(Text(note, style="yellow"))
    scale = _scale(report)
    out.append(
        Text("distance scale: as the embedder ships it (too few rows or questions for an own one)")
        if scale is None
        else Text(f"distance scale: hit {scale['hit']:g}, noise {scale['noise']:g}")
    )
    for each in report.separations:
        out.append(_gate_view(each))
    out.append(
        Text(f"Applied as version {applied}; `olav calibrate --revert {applied - 1}` takes it back.")
        if applied is not None
        else Text("Nothing was changed; --apply uses the scale and the recommended thresholds.", style="dim")
    )
    return out


def _gate_view(each: Separation) -> Any:
    from rich.text import Text

    kept, injected = each.kept(each.threshold), each.injected(each.threshold)
    edges, counts = each.histogram()
    out = Text.assemble(
        (f"\n{each.category} · {each.gate}", "bold"),
        f"  max {each.threshold:g} keeps {kept.value:.0%} of {kept.n}, injects on {injected.value:.0%}",
        f" of {injected.n} · AUC {each.auc:.2f}, against other questions {each.auc_crossed:.2f}",
    )
    kinds = (("answers", "hits", "green"), ("off-topic", "off_topic", "red"), ("other", "crossed", "yellow"))
    for label, name, style in kinds:
        out.append(f"\n  {label:<10}").append(_bars(counts[name]), style=style)
    out.append(f"\n  {'':<10}0{edges[-1]:>{len(edges) - 2}.2f}", style="dim")
    return out.append(f"\n  → {each.advice}", style="cyan")


def _bars(counts: Sequence[int]) -> str:
    top = max(counts, default=0) or 1
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // top)] for count in counts)


def _history_view(versions: list[dict[str, Any]]) -> list[Any]:
    from rich.text import Text

    if not versions:
        return [Text("Nothing was applied yet: scale and thresholds are as shipped.")]
    lines = []
    for each in versions:
        gates = ", ".join(
            f"{category} {gate} {value:g}"
            for category, named in each["thresholds"].items()
            for gate, value in named.items()
        )
        mark = " (in use)" if each["in_use"] else ""
        scale = each["scale"]
        about = f"hit {scale['hit']:g}, noise {scale['noise']:g}" if scale else "the embedder's scale"
        lines.append(
            Text(f"{each['version']}{mark}  {each['applied_at'][:19]}  {about}; {gates or 'no threshold'}")
        )
    return lines
