"""Figures of a report by name, and the bounds that a run must keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from olav_core import OlavError

EXAMPLES = (
    "R@5, all@5, kind:typo/hit@5, lang:zh->en/nDCG@10, large/block_precision, "
    "small/kind:negative_hard/negatives_with_any_row, latency/total/p95_ms or leaks"
)


def value(found: Mapping[str, Any], metric: str) -> float:
    """Return one figure of a report by its name (EXAMPLES). Raises OlavError for one that it does not
    have."""
    try:
        figure = _look(found, metric)
        return float(figure)
    except (KeyError, TypeError, ValueError) as error:
        raise OlavError(f"The report has no figure {metric!r}. There are such as {EXAMPLES}.") from error


def _look(found: Mapping[str, Any], metric: str) -> Any:
    if metric == "leaks":
        return found["leaks"]
    group, _, name = metric.rpartition("/")
    head, _, rest = group.partition("/")
    if head == "latency":
        return found["latency"][rest][name]
    if head in found["injection"]:
        tier = found["injection"][head]
        if head == group and name == "quota_starvation":
            return tier[name]["share"]
        return tier["groups"][rest][name] if rest else tier[name]
    return found["retrieval"][group or "all"][name]["mean"]


@frozen
class Bound:
    """`METRIC=VALUE` of `--fail-under` (`least`) or `--fail-over`."""

    metric: str
    limit: float
    least: bool

    def missed(self, found: Mapping[str, Any]) -> str:
        """Return a sentence when the report does not keep this bound, else ""."""
        figure = value(found, self.metric)
        if figure >= self.limit if self.least else figure <= self.limit:
            return ""
        names = found["metric_names"]
        name = names.get(self.metric) or names.get(self.metric.rpartition("/")[2], self.metric)
        word = "under" if self.least else "over"
        return (
            f"{found['configuration']['name']}: {self.metric} is {figure:.4f}, {word} {self.limit:g}"
            f"{'' if name == self.metric else f' ({name})'}."
        )


def bounds(under: Sequence[str], over: Sequence[str]) -> list[Bound]:
    """Return the bounds of a command line; raises OlavError for one that is no METRIC=VALUE."""
    found = []
    for option, texts in (("--fail-under", under), ("--fail-over", over)):
        for text in texts:
            metric, equals, limit = text.rpartition("=")
            try:
                if not equals or not metric:
                    raise ValueError
                found.append(Bound(metric, float(limit), option == "--fail-under"))
            except ValueError as error:
                raise OlavError(
                    f"{option} {text!r} names no figure and bound. Write METRIC=VALUE, such as R@5=0.9; "
                    f"metrics are such as {EXAMPLES}."
                ) from error
    return found
