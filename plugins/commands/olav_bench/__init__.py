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


def _replay() -> click.Command:
    from olav_bench.replay_command import replay

    return replay


def _native(paths: Sequence[Path]) -> Suite:
    from olav_bench import native

    return native.load(paths)


def _beir(paths: Sequence[Path]) -> Suite:
    from olav_bench import beir

    return beir.load(paths)


def _locomo(paths: Sequence[Path]) -> Suite:
    from olav_bench import locomo

    return locomo.load(paths)


def _locomo_session(paths: Sequence[Path]) -> Suite:
    from olav_bench import locomo

    return locomo.load_sessions(paths)


def _longmemeval(paths: Sequence[Path]) -> Suite:
    from olav_bench import longmemeval

    return longmemeval.load(paths)


def _store(paths: Sequence[Path]) -> Suite:
    from olav_bench import store_suite

    return store_suite.load(paths)


def _behaviour(paths: Sequence[Path]) -> Suite:
    from olav_bench.behaviour import scenario

    return scenario.load(paths)


@hookimpl
def olav_register_commands() -> list[CommandSpec]:
    return [
        CommandSpec(id="bench", help="Measure recall quality and latency on your data.", load=_command),
        CommandSpec(
            id="replay", help="Ask past queries again, under another embedder, ranker or gate.", load=_replay
        ),
    ]


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
            id="locomo_session",
            purpose="LoCoMo, one memory per session",
            files="the LoCoMo JSON file",
            load=_locomo_session,
        ),
        SuiteSpec(
            id="longmemeval",
            purpose="LongMemEval: questions about chat histories, one memory per user turn",
            files="a LongMemEval JSON file",
            load=_longmemeval,
        ),
        SuiteSpec(
            id="store",
            purpose="Golden queries against a live workspace, which is only read",
            files="WORKSPACE QUERIES.jsonl, as `olav bench mine` writes them",
            load=_store,
        ),
        SuiteSpec(
            id="behaviour",
            purpose="Scenarios of agents; here, whether the memory that one needs is injected",
            files="nothing (the shipped scenarios), or SCENARIOS.jsonl; `olav bench behaviour` asks a model",
            load=_behaviour,
        ),
    ]
