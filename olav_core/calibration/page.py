"""The calibration as one HTML page: histograms as inline SVG, nothing loaded from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from olav_core.calibration.calibrating import CalibrationReport
    from olav_core.calibration.separation import Separation

WIDTH, HEIGHT, FOOT = 640, 150, 22
#: Kind -> (legend, fill): colours that differ in lightness too.
KINDS = {
    "hits": ("answers", "#1b7f5c"),
    "off_topic": ("off-topic questions", "#c2452d"),
    "crossed": ("other questions", "#d9a514"),
}
STYLE = """
body { font: 15px/1.5 system-ui, "Noto Sans CJK SC", sans-serif; color: #222 }
body { max-width: 760px; margin: 2rem auto }
h1 { font-size: 1.4rem } h2 { font-size: 1.05rem; margin: 2rem 0 .3rem } svg { width: 100%; height: auto }
table { border-collapse: collapse } td, th { padding: .15rem .8rem .15rem 0; text-align: left }
.advice { color: #14566b }
.key span { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em }
"""


def page(report: CalibrationReport) -> str:
    """Return the page for `report`."""
    key = "".join(f'<span style="background:{fill}"></span>{name}' for name, fill in KINDS.values())
    scale = "as the embedder ships it"
    if report.scale is not None:
        scale = f"hit {report.scale.hit:g}, noise {report.scale.noise:g} ({escape(report.scale.source)})"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Calibration</title>'
        f"<style>{STYLE}</style></head><body><h1>Calibration</h1>"
        f"<p>{sum(report.questions.values())} questions with a known answer, {report.off_topic} off-topic. "
        f'Distance scale: {scale}.</p><p class="key">{key}</p>'
        + "".join(map(_section, report.separations))
        + "</body></html>\n"
    )


def _section(each: Separation) -> str:
    kept, injected = each.kept(each.threshold), each.injected(each.threshold)
    return (
        f"<h2>{escape(each.category)} · {escape(each.gate)}</h2>{_plot(each)}"
        "<table><tr><th>now</th><th>answers kept</th><th>off-topic injected</th>"
        "<th>AUC</th><th>hard AUC</th><th>gap</th></tr>"
        f"<tr><td>{each.threshold:g}</td><td>{kept.value:.0%} of {kept.n}</td>"
        f"<td>{injected.value:.0%} of {injected.n}</td><td>{each.auc:.3f}</td><td>{each.auc_crossed:.3f}</td>"
        f'<td>{each.gap:.3f}</td></tr></table><p class="advice">{escape(each.advice)}</p>'
    )


def _plot(each: Separation) -> str:
    edges, counts = each.histogram()
    bins = len(edges) - 1
    wide = WIDTH / bins
    parts = []
    for place, (name, (_, fill)) in enumerate(KINDS.items()):
        top = max(counts[name], default=0) or 1
        for n, count in enumerate(counts[name]):
            tall = HEIGHT * count / top
            x = n * wide + place * wide / len(KINDS)
            parts.append(
                f'<rect x="{x:.1f}" y="{HEIGHT - tall:.1f}" width="{wide / len(KINDS):.1f}" '
                f'height="{tall:.1f}" fill="{fill}"><title>{count}</title></rect>'
            )
    for value, dash in ((each.threshold, "4 3"), (each.recommended, "")):
        if value is not None and value <= edges[-1]:
            x = WIDTH * value / edges[-1]
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT}" stroke="#222" '
                f'stroke-dasharray="{dash}"><title>max {value:g}</title></line>'
            )
    ticks = "".join(
        f'<text x="{WIDTH * n / 4:.0f}" y="{HEIGHT + 16}" font-size="12" '
        f'text-anchor="{("start", "middle", "middle", "middle", "end")[n]}">{edges[bins * n // 4]:.2f}</text>'
        for n in range(5)
    )
    label = escape(f"Histogram of {each.gate} for {each.category}")
    shapes = "".join(parts) + ticks
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT + FOOT}" role="img" aria-label="{label}">{shapes}</svg>'
