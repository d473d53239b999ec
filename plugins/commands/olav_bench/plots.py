"""Plots of reports as SVG text for one HTML page: drawn by matplotlib, lettered by the browser's own
fonts."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from olav_core import OlavError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colour-blind safe (Okabe and Ito), in order of the configurations.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D31", "#444444")
INK, FAINT = "#1f2933", "#d9dee4"
_STYLE = {
    "svg.fonttype": "none",  # letters stay letters: Chinese shows in the reader's font
    "svg.hashsalt": "olav",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
Series = Mapping[str, Sequence[float | None]]
#: Widest label before it is cut.
LABEL = 46


def bars(
    labels: Sequence[str],
    series: Series,
    *,
    unit: str = "",
    errors: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    top: float | None = 1.0,
) -> str:
    """Return horizontal bars: a group per label, a bar per series; None draws nothing. `errors`: (below,
    above) of each bar."""
    height = 0.7 + 0.3 * (len(series) > 1) + len(labels) * (0.13 + 0.19 * len(series))
    figure, axes = _axes(height)
    step = 0.8 / max(len(series), 1)
    for place, (name, values) in enumerate(series.items()):
        ys = [row + (place - (len(series) - 1) / 2) * step for row in range(len(labels))]
        drawn = [value if value is not None else 0.0 for value in values]
        whiskers = list(zip(*errors[name], strict=True)) if errors and labels else None
        axes.barh(
            ys, drawn, height=step * 0.88, label=name, color=COLOURS[place % len(COLOURS)],
            xerr=whiskers, error_kw={"ecolor": INK, "elinewidth": 0.8, "capsize": 1.5},
        )  # fmt: skip
    axes.set_yticks(range(len(labels)), [_cut(label) for label in labels])
    axes.invert_yaxis()
    if top is not None:
        axes.set_xlim(0, top)
    axes.set_xlabel(unit)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    return _svg(figure, legend=len(series) > 1)


def forest(labels: Sequence[str], rows: Sequence[tuple[float, float, float, bool]], *, unit: str) -> str:
    """Return differences with their intervals around zero: (difference, low, high, significant) per label."""
    figure, axes = _axes(0.7 + 0.27 * len(labels))
    for place, (middle, low, high, significant) in enumerate(rows):
        colour = COLOURS[0] if significant else "#8a94a0"
        axes.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
        axes.plot([middle], [place], "o", color=colour, markersize=5)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(labels)), [_cut(label) for label in labels])
    axes.invert_yaxis()
    axes.set_xlabel(unit)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    return _svg(figure, legend=False)


def _axes(height: float) -> tuple[Figure, Axes]:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise OlavError("--html needs the extra `bench`: pip install 'olav-core[bench]'.") from error
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8.2, height), layout="constrained")
        return figure, figure.add_subplot()


def _svg(figure: Figure, *, legend: bool) -> str:
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        if legend:
            figure.legend(loc="outside upper left", ncols=4, fontsize=9, handlelength=1.2)
        warnings.simplefilter("ignore")  # matplotlib's own font lacks Chinese; the browser's has it
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    return re.sub(r"font:([^;\"']*)'DejaVu Sans'[^;\"']*", r"font:\1var(--letters)", text)


def _cut(label: str) -> str:
    return label if len(label) <= LABEL else label[: LABEL - 1] + "…"


def mean_of(figure: Mapping[str, Any] | None) -> float | None:
    """Return the mean of a report's figure."""
    return None if figure is None else float(figure["mean"])


def whiskers_of(figure: Mapping[str, Any] | None) -> tuple[float, float]:
    """Return how far a figure's interval reaches below and above its mean."""
    if figure is None:
        return 0.0, 0.0
    return max(figure["mean"] - figure["low"], 0.0), max(figure["high"] - figure["mean"], 0.0)
