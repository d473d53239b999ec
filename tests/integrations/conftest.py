"""What the tests of integrations share: a workspace with a few memories, and the examples' scripted model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import olav_core
from olav_core import Memory

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))

FACTS = (
    ("The loopback of router R1 is 10.255.0.1", "netops"),
    ("register_service takes the name grafana-<site> and an owner", "netops"),
    ("Invoices of tenant acme are numbered AC-1000 and up", "billing"),
    ("Change windows are on Tuesday night", "global"),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        for text, scope in FACTS:
            opened.remember(text, scope=scope)
        yield opened
