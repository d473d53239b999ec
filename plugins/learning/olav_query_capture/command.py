"""The command `olav queries`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import click

import olav_core
from olav_core import PluginError, Terminal, json_option, workspace_option

FAILED = 1


@click.group()
def queries() -> None:
    """Questions and the SQL that answered them: import, list, confirm, fail."""


@queries.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--agent", "-a", default="core", show_default=True, help="The agent of lines that name none.")
@click.option("--dialect", default="", help="The SQL of lines that name none, e.g. duckdb, postgres.")
@click.option("--dry-run", "-n", is_flag=True, help="Tell what would be kept; write nothing.")
@workspace_option
@json_option
def import_file(
    file: Path, agent: str, dialect: str, dry_run: bool, workspace: Path | None, as_json: bool
) -> None:
    """Keep the queries of a JSON-lines file.

    A line is {"question", "sql"}, or a run: {"question", "answer", "statements": [{"sql", "result",
    "error"}]}, of which the statement is kept that the answer rests on. Both may name dialect, agent, scope
    and run. Importing a file twice counts nothing twice. Exit code 1 when a line has a fault; the others are
    kept all the same.

    With --json: {"applied", "stored", "confirmed", "failed", "known", "skipped", "lines": [{"line",
    "question", "captured": [{"outcome", "id", "sql", "reason", "confidence"}]}], "faults": [{"path", "line",
    "message", "blocks"}]}.
    """
    _need_sqlglot()
    from olav_query_capture.imports import import_queries

    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory, terminal.progress("Reading") as on_progress:
        report = import_queries(
            memory, file, agent=agent, dialect=dialect, dry_run=dry_run, on_progress=on_progress
        )
    value = report.to_dict()
    names = ("stored", "confirmed", "failed", "known", "skipped")
    lines = [
        f"{line.line}: {found.outcome}{f' ({found.reason})' if found.reason else ''}: {line.question}"
        for line in report.lines
        for found in line.captured
    ]
    head = " · ".join(f"{value[name]} {name}" for name in names if value[name]) or "Nothing to keep."
    terminal.result(value, *lines, head, *(["Dry run: nothing was written."] if dry_run else []))
    for fault in report.faults:
        terminal.note(str(fault), style="red")
    if report.faults:
        click.get_current_context().exit(FAILED)


@queries.command("list")
@click.option("--table", help="Only what reads this table.")
@click.option("--scope", "-s", "scopes", multiple=True, help="Only this scope; repeatable.")
@click.option("--limit", "-k", type=click.IntRange(min=1), default=50, show_default=True, help="Most rows.")
@workspace_option
@json_option
def list_queries(
    table: str | None, scopes: tuple[str, ...], limit: int, workspace: Path | None, as_json: bool
) -> None:
    """List queries, the latest first.

    With --json: {"items": [{"id", "scope", "question", "wordings", "sql", "dialect", "tables", "columns",
    "uses", "failures", "last_error", "confidence"}]}.
    """
    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        rows = memory.list(category="query_pattern", scopes=scopes or None)
    names = ("question", "wordings", "sql", "dialect", "tables", "columns", "uses", "failures", "last_error")
    items = [
        {
            "id": row.id,
            "scope": row.scope,
            **{name: row.metadata.get(name) for name in names},
            "confidence": row.confidence,
        }
        for row in rows
        if table is None or table in row.metadata.get("tables", ())
    ][:limit]
    lines = [
        f"{item['id']}  {item['question']}  ({item['confidence']:.2f})\n    {' '.join(item['sql'].split())}"
        for item in items
    ]
    terminal.result({"items": items}, *(lines or ["No queries."]))


@queries.command()
@click.argument("identifier", metavar="ID")
@workspace_option
@json_option
def confirm(identifier: str, workspace: Path | None, as_json: bool) -> None:
    """Count that a query answered once more.

    With --json: {"outcome", "id", "sql", "reason", "confidence"}.
    """
    _judge("confirm", identifier, workspace, as_json)


@queries.command()
@click.argument("identifier", metavar="ID")
@click.option("--error", default="", help="What the database said.")
@workspace_option
@json_option
def fail(identifier: str, error: str, workspace: Path | None, as_json: bool) -> None:
    """Count that a query failed.

    One that keeps failing is not shown to agents any more.

    With --json: {"outcome", "id", "sql", "reason", "confidence"}.
    """
    _judge("fail", identifier, workspace, as_json, error=error)


def _judge(method: str, identifier: str, workspace: Path | None, as_json: bool, **options: Any) -> None:
    _need_sqlglot()
    from olav_query_capture.capture import QueryCapture

    terminal = Terminal(as_json=as_json)
    with terminal.guarded(), olav_core.open(workspace) as memory:
        done = getattr(QueryCapture(memory), method)(identifier, **options)
    terminal.result(attrs.asdict(done), f"{done.outcome} {done.id}, confidence {done.confidence:.2f}")


def _need_sqlglot() -> None:
    try:
        import sqlglot  # noqa: F401
    except ModuleNotFoundError as error:
        raise PluginError(
            "`olav queries` reads SQL with sqlglot. Install it: pip install 'olav-core[sql]'."
        ) from error
