"""What a person sees of memories: the block, the items, the trace, the stage timings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from olav_core.cli.listing import Entry, Listing
from olav_core.errors import UnknownIdError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from olav_core.memory import Memory
    from olav_core.recall.recall import CandidateTrace, Recall
    from olav_core.records import MemoryRecord
    from olav_core.succession import Conflict

#: Rows of the trace shown to a person; `--json` has all.
TRACE_ROWS = 20
_DECISION_STYLES = {
    "injected": "bold green",
    "gate": "red",
    "floor": "red",
    "cap": "yellow",
    "duplicate": "yellow",
    "budget": "yellow",
    "outranked": "dim",
    "gone": "dim",
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


def conflict_lines(conflicts: Sequence[Conflict]) -> list[RenderableType]:
    """Return a line for each memory that says otherwise than one that was written."""
    from rich.text import Text

    return [
        Text.assemble(
            ("Supersedes ", "yellow")
            if other.outcome == "superseded"
            else ("Not in force; against it stands ", "red"),
            (short_id(other.id), "cyan"),
            f": {one_line(other.text)}",
        )
        for other in conflicts
    ]


def title(record: MemoryRecord) -> str:
    """Return a memory on one line, what its file calls it first."""
    name = record.metadata.get("intent") or record.metadata.get("tag")
    return one_line(f"{name}: {record.text}" if name else record.text)


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
        out.append(_items(recall))
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


def _items(recall: Recall) -> RenderableType:
    from rich.text import Text

    return Listing(
        headers=("#", "memory", "scope", "score", "dist", "canon"),
        right=frozenset({"#", "score", "dist", "canon"}),
        entries=[
            Entry(
                (
                    Text(str(rank)),
                    Text(short_id(item.id), style="cyan"),
                    Text(item.scope),
                    Text(f"{item.score:.3f}"),
                    Text(number(item.distance)),
                    Text(number(item.canonical_distance)),
                ),
                Text(title(item.record)),
            )
            for rank, item in enumerate(recall.items, start=1)
        ],
    )


def shown_candidates(trace: Sequence[CandidateTrace], rows: int) -> list[CandidateTrace]:
    """Return every injected candidate, then the next best of the others, up to `rows` in all."""
    injected = [candidate for candidate in trace if candidate.decision == "injected"]
    others = [candidate for candidate in trace if candidate.decision != "injected"]
    others.sort(key=lambda candidate: -candidate.score)
    return injected + others[: max(0, rows - len(injected))]


def _titles(recall: Recall, shown: Sequence[CandidateTrace], memory: Memory | None) -> dict[str, str]:
    titles = {item.id: title(item.record) for item in recall.items}
    for candidate in shown:
        if memory is not None and candidate.id not in titles:
            with suppress(UnknownIdError):  # deleted since
                titles[candidate.id] = title(memory.get(candidate.id))
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
    numbers = (*legs, "boost", "score", "dist", "canon")
    entries = []
    for candidate in trace:
        style = _DECISION_STYLES.get(candidate.decision, "")
        cells = [
            Text(short_id(candidate.id), style="cyan"),
            *(_leg(candidate, leg) for leg in legs),
            Text(
                f"+{candidate.boost:.2f}" if candidate.boost else "–", style="" if candidate.boost else "dim"
            ),
            Text(f"{candidate.score:.3f}"),
            Text(number(candidate.distance)),
            Text(number(candidate.canonical_distance)),
            Text(candidate.decision, style=style),
        ]
        text = Text(candidate.reason, style="dim" if style == "dim" else style.removeprefix("bold "))
        words = (titles or {}).get(candidate.id, "")
        if words:
            text.append(" · " if text else "", style="dim").append(words, style="dim")
        entries.append(Entry(cells, text))
    listing = Listing(("memory", *numbers, "decision"), entries, right=frozenset(numbers), inline=False)
    left = (total or 0) - len(trace)
    if left <= 0:
        return listing
    return Group(listing, Text(f"… and {left} more candidates (--json has all)", style="dim"))


def _leg(candidate: CandidateTrace, leg: str) -> Text:
    from rich.text import Text

    rank = candidate.leg_ranks.get(leg)
    if rank is None:
        return Text("–", style="dim")
    return Text.assemble((f"#{rank} ", "dim"), f"{candidate.leg_scores.get(leg, 0.0):.2f}")


def timings_line(timings_ms: Mapping[str, float]) -> RenderableType:
    """Return the latency of each stage in ms, the total last."""
    from rich.text import Text

    line = Text("ms  ", style="dim")
    for stage, spent in sorted(timings_ms.items(), key=lambda item: item[0] == "total"):
        line.append(f"{stage}\u00a0", style="dim").append(
            f"{spent:.1f}", style="bold" if stage == "total" else ""
        )
        line.append(" · " if stage != "total" else "", style="dim")
    return line


def records_listing(records: Sequence[MemoryRecord]) -> RenderableType:
    """Return memories as lines: id, scope, origin, day, text."""
    from rich.text import Text

    return Listing(
        headers=("memory", "scope", "origin", "date"),
        entries=[
            Entry(
                (
                    Text(short_id(record.id), style="cyan"),
                    Text(record.scope),
                    Text(record.origin),
                    Text(record.timestamp.date().isoformat()),
                ),
                Text(title(record)),
            )
            for record in records
        ],
    )


def record_view(record: MemoryRecord) -> list[RenderableType]:
    """Return one memory whole: its text, then every other field."""
    from rich.panel import Panel
    from rich.text import Text

    fields = {
        key: value for key, value in record_object(record).items() if key not in ("text", "search_text")
    }
    table = _pairs()
    for name, value in fields.items():
        if isinstance(value, dict):
            for key, inner in value.items():
                table.add_row(f"{name}.{key}", Text(_shown(inner)))
        elif value not in (None, [], ""):
            table.add_row(name, Text(_shown(value)))
    return [Panel(Text(record.text), title=record.id, title_align="left", border_style="cyan"), table]


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


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

    table = _pairs()
    for name, value in facts.items():
        table.add_row(name, Text(str(value)))
    return table


def _pairs() -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def number(value: float | None) -> str:
    """Return a distance with three digits, or a dash for none."""
    return "–" if value is None else f"{value:.3f}"
