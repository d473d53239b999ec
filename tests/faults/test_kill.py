"""kill -9 at 60 random moments: what was acknowledged is there, once, and the index agrees (CASES 38, 44)."""

from __future__ import annotations

from pathlib import Path

import killing
import pytest

SEED = 20261201


@pytest.mark.parametrize(
    ("action", "tries"),
    [
        ("write", 13),
        ("batch import", 11),
        ("index catch-up", 11),
        ("optimize", 11),
        ("re-embed", 11),
        ("e5 conversion", 3),
    ],
)
def test_a_killed_process_loses_and_doubles_nothing(action: str, tries: int, tmp_path: Path) -> None:
    tally = killing.trials(action, tmp_path / "w", tries, SEED)
    assert tally.clean, tally
    assert tally.tries == tries
    assert tally.acknowledged > 0 or action == "e5 conversion"
