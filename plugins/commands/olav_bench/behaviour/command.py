"""The command `olav bench behaviour`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from attrs import evolve

from olav_core import ChatSettings, FiniteFloat, Settings, Terminal, json_option


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[SCENARIOS]…")
@click.option("--base-url", help="OpenAI-style root, as http://localhost:11434/v1; default: chat.base_url.")
@click.option("--model", help="The model to ask; default: chat.model.")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Runs of each scenario.")
@click.option("--temperature", type=FiniteFloat(0, 2), help="Default: chat.temperature.")
@click.option("--tier", default="small", show_default=True, help="How many memories a call gets.")
@click.option("--embedder", default="e5", show_default=True)
@click.option("--limit", type=click.IntRange(1), help="Only the first scenarios.")
@click.option("--cache", type=click.Path(path_type=Path), help="Where vectors are kept.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="Write everything as JSON, each run included."
)
@json_option
def behaviour(
    paths: tuple[Path, ...],
    base_url: str | None,
    model: str | None,
    runs: int,
    temperature: float | None,
    tier: str,
    embedder: str,
    limit: int | None,
    cache: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure what a model does with and without memory.

    Each scenario (the shipped ones, or those of the files) is played to your chat endpoint: the user's turns,
    the tools' scripted results. Judged are the first tool called, stalling, and the convention kept. The
    endpoint comes from the options, else from the settings `chat` of this folder's workspace or
    OLAV_CHAT_BASE_URL and OLAV_CHAT_MODEL.

    With --json: {"model", "runs", "tier", "embedder", "measures": {"right_tool", "stalled",
    "convention_kept", "prompt_tokens", "reply_tokens": {"without", "with": {"n", "mean", "low", "high"}}},
    "differences": [{"measure", "n", "difference", "low", "high", "p"}], "scenarios": [{"id", "lang", "arms":
    {"without", "with": [run]}}]}.
    """
    from olav_bench.behaviour.measuring import measure
    from olav_bench.behaviour.scenario import read
    from olav_bench.configuration import Configuration
    from olav_bench.report import save
    from olav_core import Chat, check_tier

    terminal = Terminal(as_json=as_json)
    settings = _settings(base_url, model, temperature)
    scenarios = read(paths)[:limit]
    configuration = Configuration(embedder=embedder, tiers=(check_tier(tier),))
    with terminal.guarded(), Chat(settings) as chat, terminal.progress("scenarios") as on_run:
        found = measure(scenarios, chat, configuration, runs=runs, cache=cache, on_run=on_run)
    about = {"model": settings.model, "temperature": settings.temperature, "runs": runs, "tier": tier}
    value = {**about, "embedder": embedder, **found}
    if output is not None:
        save(value, output)
    terminal.result(value, *([] if as_json else _view(value)))


def _settings(base_url: str | None, model: str | None, temperature: float | None) -> ChatSettings:
    config = next(
        (
            place
            for folder in (Path.cwd(), *Path.cwd().parents)
            if (place := folder / ".olav/config.yaml").exists()
        ),
        Path("no-settings-file"),
    )
    given = {"base_url": base_url, "model": model, "temperature": temperature}
    chat = Settings.load(config, dict(os.environ)).chat
    return evolve(chat, **{name: value for name, value in given.items() if value is not None})


def _view(found: dict[str, Any]) -> list[Any]:
    from rich.table import Table

    title = (
        f"{found['model']}, {len(found['scenarios'])} scenarios × {found['runs']} runs, tier {found['tier']}"
    )
    table = Table("measure", "n", "without memory", "with memory", "difference", "p", box=None, title=title)
    differences = {row["measure"]: row for row in found["differences"]}
    for name, arms in found["measures"].items():
        if name in differences:
            row = differences[name]
            table.add_row(
                name,
                str(row["n"]),
                *(f"{arms[arm]['mean']:.3f}" for arm in ("without", "with")),
                f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]",
                f"{row['p']:.3f}",
            )
    return [table]
