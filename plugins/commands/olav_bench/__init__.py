"""The command `olav bench`, and the benchmark suites that come with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from olav_core import CommandSpec, SuiteSpec, hookimpl

if TYPE_CHECKING:
    import click

    from olav_core import Suite


def _command() -> click.Command:
    from olav_bench.command import bench

    return bench


def _native(paths: Sequence[Path]) -> Suite:
    from olav_bench import native

    return native.load(paths)


def _beir(paths: Sequence[Path]) -> Suite:
    from olav_bench import beir

    return beir.load(paths)


def _locomo(paths: Sequence[Path]) -> Suite:
    from olav_bench import locomo

    return locomo.load(paths)


def _longmemeval(paths: Sequence[Path]) -> Suite:
    from olav_bench import longmemeval

    return longmemeval.load(paths)


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [CommandSpec(id="bench", help="Measure recall quality and latency on your data.", load=_command)]


@hookimpl
def olav_register_suites() -> list[SuiteSpec]:
    return [
        SuiteSpec(
            id="native",
            purpose="Memories of all categories and queries with relevant and forbidden ids",
            files="MEMORIES.jsonl QUERIES.jsonl",
            load=_native,
        ),
        SuiteSpec(
            id="beir",
            purpose="A retrieval set in BEIR's layout",
            files="a folder with corpus.jsonl, queries.jsonl, qrels.tsv (or qrels/test.tsv)",
            load=_beir,
        ),
        SuiteSpec(
            id="locomo",
            purpose="LoCoMo: questions about long dialogues, one memory per turn",
            files="the LoCoMo JSON file",
            load=_locomo,
        ),
        SuiteSpec(
            id="longmemeval",
            purpose="LongMemEval: questions about chat histories, one memory per user turn",
            files="a LongMemEval JSON file",
            load=_longmemeval,
        ),
    ]
