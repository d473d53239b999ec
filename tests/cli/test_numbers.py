"""Numbers on the command line: what cannot be reckoned with is refused as a usage error, with a reason."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from olav_core.cli.main import main

COMMANDS = (
    ("bench", "mine", "--since"),
    ("replay", "--since"),
    ("bench", "behaviour", "--temperature"),
    ("learn", "patterns", "--window-days"),
    ("describe-table", "--timeout"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e308"])
def test_a_number_without_bounds_is_a_usage_error(command: tuple[str, ...], number: str) -> None:
    result = CliRunner().invoke(main, [*command, number, "x.db"])
    assert result.exit_code == 2, result.output
    assert command[-1] in result.output
