"""The command group `olav bench`; each command's module is imported when the group is."""

from __future__ import annotations

import click

from olav_bench.behaviour.command import behaviour
from olav_bench.mine_command import mine
from olav_bench.run_command import run
from olav_bench.suite_command import compare, suites


@click.group()
def bench() -> None:
    """Measure recall quality and latency, through the recall path that agents use."""


for _command in (run, compare, mine, behaviour, suites):
    bench.add_command(_command)
