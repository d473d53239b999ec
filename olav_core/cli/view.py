"""What a person sees of memories: the block, the items, the trace, the stage timings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from olav_core.errors import UnknownIdError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from olav_core.memory import Memory
    from olav_core.recall import CandidateTrace, Recall
    from olav_core.records import MemoryRecord

#: Rows of the trace shown to a person; `--json` has all.
TRACE_ROWS = 20
#: Width of a candidate's first words in the trace; a CJK character takes two cells.
TITLE_CELLS = 36
_DECISION_STYLES = {
    "injected": "bold green",
    "gate": "red",
    "floor": "red",
    "cap": "yellow",
    "duplicate": "yellow",
    "budget": "yellow",
    "outranked": "dim",
}
_HASH_CHARS = 32


def short_id(identifier: str) -> str:
    """Return an id cut to eight digits of its hash: enough to name it to `olav kb show`."""
    category, colon, digest = identifier.rpartition(":")
    return f"{category}{colon}{digest[:8]}" if len(digest) == _HASH_CHARS else identifier


def one_line(text: str, limit: int = 200) -> str:
    """Return the text on one line, cut to `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit and len(text) <= limit * 4 else line[: limit - 1] + "…"


def recall_view(
    recall: Recall, *, explain: bool = False, rows: int = TRACE_ROWS, memory: Memory | None = None
) -> list[RenderableType]:
    """Return a recall for the terminal: head, block as the model reads it, items; with `explain`, the trace.

    `rows` bounds the trace; `memory` gives the first words of candidates that were not injected.
    """
    from rich.text import Text

    out: list[RenderableType] = [_head(recall), _block(recall)]
    if explain:
        shown = shown_candidates(recall.trace, rows)
        titles = _titles(recall, shown, memory)
        out += [trace_table(shown, titles, total=len(recall.trace)), timings_line(recall.timings_ms)]
    elif recall.items:
        out.append(_items_table(recall))
    out += [Text(f"degraded: {leg}", style="bold red") for leg in recall.degraded]
    out += [Text(f"warning: {warning}", style="yellow") for warning in recall.warnings]
    return out


def _head(recall: Recall) -> RenderableType:
    from rich.text import Text

    facts = (
        f"agent {recall.agent}",
        f"scopes {', '.join(recall.scopes)}",
        f"tier {recall.tier} (K={recall.limit})",
        f"{len(recall.items)} injected",
        f"{recall.tokens} tokens",
        f"{recall.timings_ms.get('total', 0.0):.1f} ms",
    )
    return Text.assemble((one_line(recall.query), "bold"), "\n", (" · ".join(facts), "dim"))


def _block(recall: Recall) -> RenderableType:
    from rich.panel import Panel
    from rich.text import Text

    if not recall.items:
        empty = (
            "Recall failed in part, see below." if recall.degraded else "Nothing to inject for this query."
        )
        return Text(empty, style="italic yellow")
    text = Text(recall.block)
    text.highlight_regex(r"</?relevant-memories>|<memory [^>]*>|</memory>", "dim")
    text.highlight_regex(r'(?<=category=)"[^"]*"', "cyan")
    return Panel(text, title="what the model reads", title_align="left", border_style="cyan")


def _items_table(recall: Recall) -> Table:
    table = _table("#:>", "memory:cyan!", "scope:!", "score:>", "dist:>", "canon:>", "text:~")
    for rank, item in enumerate(recall.items, start=1):
        table.add_row(
            str(rank),
            short_id(item.id),
            item.scope,
            f"{item.score:.3f}",
            number(item.distance),
            number(item.canonical_distance),
            one_line(item.text),
        )
    return table


def shown_candidates(trace: Sequence[CandidateTrace], rows: int) -> list[CandidateTrace]:
    """Return every injected candidate, then the next best of the others, up to `rows` in all."""
    injected = [candidate for candidate in trace if candidate.decision == "injected"]
    others = [candidate for candidate in trace if candidate.decision != "injected"]
    others.sort(key=lambda candidate: -candidate.score)
    return injected + others[: max(0, rows - len(injected))]


def _titles(recall: Recall, shown: Sequence[CandidateTrace], memory: Memory | None) -> dict[str, str]:
    titles = {item.id: one_line(item.text) for item in recall.items}
    for candidate in shown:
        if memory is not None and candidate.id not in titles:
            with suppress(UnknownIdError):  # deleted since
                titles[candidate.id] = one_line(memory.get(candidate.id).text)
    return titles


def trace_table(
    trace: Sequence[CandidateTrace], titles: Mapping[str, str] | None = None, *, total: int | None = None
) -> RenderableType:
    """Return candidates with each leg's rank and score, boost, distances, decision and reason.

    `dist` is the squared L2 in the centred space, `canon` the canonical distance where gates speak. `total`
    is the number of candidates when `trace` holds only some.
    """
    from rich.console import Group
    from rich.text import Text

    if not trace:
        return Text("No candidate was in scope.", style="italic yellow")
    legs = list(dict.fromkeys(leg for candidate in trace for leg in candidate.leg_ranks))
    table = _table(
        "memory:!",
        *(f"{leg}:>!" for leg in legs),
        "boost:>!",
        "score:>!",
        "dist:>!",
        "canon:>!",
        "decision",
    )
    for candidate in trace:
        decision = Text(candidate.decision, style=_DECISION_STYLES.get(candidate.decision, ""))
        if candidate.reason:
            decision.append(f"\n{candidate.reason}", style="not bold dim")
        memory = Text(short_id(candidate.id), style="cyan")
        if titles and candidate.id in titles:
            memory.append(f"\n{_fit(titles[candidate.id], TITLE_CELLS)}", style="not bold default")
        table.add_row(
            memory,
            *(_leg(candidate, leg) for leg in legs),
            f"+{candidate.boost:.2f}" if candidate.boost else "",
            f"{candidate.score:.3f}",
            number(candidate.distance),
            number(candidate.canonical_distance),
            decision,
        )
    left = (total or 0) - len(trace)
    if left <= 0:
        return table
    return Group(table, Text(f"… and {left} more candidates (--json has all)", style="dim"))


def _fit(text: str, cells: int) -> str:
    """Return the text cut to the given width in cells, where a CJK character takes two."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= cells else set_cell_size(text, cells - 1).rstrip() + "…"


def _leg(candidate: CandidateTrace, leg: str) -> RenderableType:
    from rich.text import Text

    rank = candidate.leg_ranks.get(leg)
    if rank is None:
        return Text("–", style="dim")
    return Text.assemble((f"#{rank} ", "dim"), f"{candidate.leg_scores.get(leg, 0.0):.3f}")


def timings_line(timings_ms: Mapping[str, float]) -> RenderableType:
    """Return the latency of each stage in ms, on one line, the total last."""
    from rich.text import Text

    line = Text("ms  ", style="dim")
    for stage, spent in sorted(timings_ms.items(), key=lambda item: item[0] == "total"):
        line.append(f"{stage} ").append(
            f"{spent:.2f}", style="bold not dim" if stage == "total" else "not dim"
        )
        line.append("  ")
    return line


def records_table(records: Sequence[MemoryRecord]) -> Table:
    """Return memories as rows: id, scope, origin, day, text."""
    table = _table("memory:cyan!", "scope:!", "origin:!", "date:!", "text:~")
    for record in records:
        table.add_row(
            short_id(record.id),
            record.scope,
            record.origin,
            record.timestamp.date().isoformat(),
            one_line(record.text),
        )
    return table


def record_view(record: MemoryRecord) -> list[RenderableType]:
    """Return one memory whole: its text, then every other field."""
    from rich.panel import Panel
    from rich.text import Text

    fields = {
        key: value for key, value in record_object(record).items() if key not in ("text", "search_text")
    }
    table = _table("field:cyan", "value")
    for name, value in fields.items():
        if isinstance(value, dict):
            for key, inner in value.items():
                table.add_row(f"{name}.{key}", Text(str(inner)))
        elif value not in (None, [], ""):
            table.add_row(name, ", ".join(value) if isinstance(value, list) else str(value))
    return [Panel(Text(record.text), title=record.id, title_align="left", border_style="cyan"), table]


def record_object(record: MemoryRecord) -> dict[str, Any]:
    """Return the `--json` form of a memory: every column but the vector; times in ISO 8601, UTC."""
    from attrs import asdict

    out = asdict(record, recurse=False)
    out["metadata"] = dict(record.metadata)
    out["tags"] = list(record.tags)
    for name in ("timestamp", "created_at", "expires_at"):
        out[name] = out[name].isoformat() if out[name] is not None else None
    return out


def facts_table(facts: Mapping[str, Any]) -> Table:
    """Return names and values as two columns."""
    from rich.text import Text

    table = _table("", "")
    table.show_header = False
    for name, value in facts.items():
        table.add_row(Text(name, style="cyan"), Text(str(value)))
    return table


def number(value: float | None) -> str:
    """Return a distance with three digits, or a dash for none."""
    return "–" if value is None else f"{value:.3f}"


def _table(*columns: str) -> Table:
    """Return a plain table; a column is `name:flags`: `>` right, `!` never wrapped, `~` cut with an ellipsis,
    and the name of a style."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1), header_style="bold", pad_edge=False, show_edge=False)
    for column in columns:
        name, _, flags = column.partition(":")
        style = flags.strip(">!~") or None
        fixed = "!" in flags or "~" in flags
        table.add_column(
            name,
            justify="right" if ">" in flags else "left",
            style=style,
            no_wrap=fixed,
            overflow="ellipsis" if "~" in flags else "fold",
            ratio=1 if "~" in flags else None,
        )
    return table
