"""The click command of `olav demo`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import olav_core
from olav_core import ErasedTextError, Terminal, WorkspaceError, json_option, read_jsonl, recall_view
from olav_demo.copying import copy_workspace, is_demo

if TYPE_CHECKING:
    from olav_core import Memory

#: Candidates in each query's trace: the injected ones, and the next best.
TRACE_ROWS = 5
COLUMNS = (
    "Columns: rank and strength by words (bm25) and by meaning (vector); boost by keywords; score of all; "
    "dist, the distance in this embedder's space; canon, the same under every embedder: gates compare it."
)


@click.command()
@click.option(
    "--dir", "directory", type=click.Path(path_type=Path), default=Path("olav-demo"), show_default=True
)
@click.option("--keep", is_flag=True, help="Keep the folder's files as they are; do not refresh them.")
@click.option("--embedder", metavar="ID", help="Embedder of a new demo; default: e5.")
@json_option
def demo(directory: Path, keep: bool, embedder: str | None, as_json: bool) -> None:
    """Make a demo workspace and show what it recalls, and why.

    Copies a small network-operations workspace (guides, formats, facts, past events; Chinese and English),
    imports it and runs its queries.yaml. Run again, it refreshes the files that nobody edited.

    With --json: {"directory", "guides", "formats", "memories", "seconds", "queries": [the object of
    `olav recall --explain`, and "expect"]}.
    """
    terminal = Terminal(as_json=as_json)
    started = time.perf_counter()
    target = directory.expanduser().absolute()
    if keep and not is_demo(target):
        raise WorkspaceError(f"There is no demo in {target} to keep. Leave --keep out to make one.")
    for name in () if keep else copy_workspace(target):
        terminal.note(f"Kept your edited {name}.")
    with terminal.guarded(), _open(target, embedder, terminal) as memory:
        counts = _fill(memory, terminal)
        queries = _queries(memory.workspace.root)
        results = []
        for number, asked in enumerate(queries, start=1):
            recall = memory.recall(asked["query"], agent=asked.get("agent", "core"), tier=asked.get("tier"))
            results.append(recall.to_dict(explain=True) | {"expect": asked.get("expect", "")})
            _show(memory, terminal, f"{number}/{len(queries)}", recall, asked.get("expect", ""))
    seconds = time.perf_counter() - started
    if as_json:
        out = {"directory": str(target), **counts, "seconds": round(seconds, 2), "queries": results}
        terminal.result(out)
    else:
        terminal.print(*_farewell(directory, target, counts, seconds))


def _open(target: Path, embedder: str | None, terminal: Terminal) -> Memory:
    if not (target / ".olav" / "config.yaml").exists():
        if not terminal.as_json:
            terminal.note(f"Making {target} with the embedder {embedder or 'e5'} …", style="dim")
        return olav_core.init(target, embedder=embedder or "e5")
    memory = olav_core.open(target)
    used = memory.settings.embedder.id
    if embedder not in (None, used):
        memory.close()
        raise WorkspaceError(
            f"The demo in {target} uses the embedder {used}. Choose another folder with --dir, or move it: "
            f"`olav kb reembed --to {embedder} --workspace {target}`."
        )
    return memory


def _fill(memory: Memory, terminal: Terminal) -> dict[str, int]:
    """Import guides and formats, load memories.jsonl; return how many of each the demo has."""
    root = memory.workspace.root
    counts = {}
    for kind, bring in (("guides", memory.import_guides), ("formats", memory.import_formats)):
        with terminal.progress(f"Importing {kind}") as on_progress:
            report = bring(root, on_progress=on_progress)
        for fault in report.faults:
            terminal.note(str(fault), style="red")
        counts[kind] = report.added + report.changed + report.moved + report.unchanged
    drafts = read_jsonl(root / "memories.jsonl")
    with terminal.progress("Remembering") as on_progress:
        outcomes = memory.remember_many(drafts, on_progress=on_progress)
    for draft, outcome in zip(drafts, outcomes, strict=True):
        # A memory that a user forgot stays forgotten, also when the demo runs again.
        if outcome.error is not None and not isinstance(outcome.error, ErasedTextError):
            terminal.note(f"memories.jsonl:{draft.line}: {outcome.error}", style="red")
    counts["memories"] = sum(outcome.error is None for outcome in outcomes)
    return counts


def _queries(root: Path) -> list[dict[str, str]]:
    import yaml

    try:
        found: Any = yaml.safe_load((root / "queries.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise WorkspaceError(f"{root / 'queries.yaml'} cannot be read: {error}") from error
    if not isinstance(found, list) or not all(isinstance(item, dict) and item.get("query") for item in found):
        raise WorkspaceError(f"{root / 'queries.yaml'} must be a list of entries with a `query`.")
    return found


def _show(memory: Memory, terminal: Terminal, number: str, recall: Any, expect: str) -> None:
    if terminal.as_json:
        return
    from rich.rule import Rule
    from rich.text import Text

    terminal.print(
        Rule(number, style="dim"), *recall_view(recall, explain=True, rows=TRACE_ROWS, memory=memory)
    )
    if expect:
        terminal.print(Text.assemble(("expected  ", "dim"), (" ".join(expect.split()), "dim italic")))


def _farewell(directory: Path, target: Path, counts: dict[str, int], seconds: float) -> list[Any]:
    from rich.rule import Rule
    from rich.text import Text

    brought = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    steps = (
        (f"cd {directory}", "its files: */guides, */formats, memories.jsonl, queries.yaml"),
        (
            'olav recall "我们如何注册 InfluxDB?" --agent services --explain',
            "ask it something, see every choice",
        ),
        ("olav kb list --category reflection", "what it learned from mistakes"),
        ("olav kb import-guides .", "after you edited a guide"),
        ("olav kb status", "what the store holds"),
        ("olav init ~/my-workspace", "start your own"),
    )
    text = Text.assemble((f"{brought} in {target}, {seconds:.1f} s\n", "bold"), f"{COLUMNS}\n")
    text.append("Next:", style="bold")
    for (
        command,
        what,
    ) in steps:  # what it is for on a line of its own: the question is too wide for two columns
        text.append(f"\n  {command}", style="cyan").append(f"\n    {what}", style="dim")
    return [Rule(style="dim"), text]
