"""A real store, and indexes over it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from index_rows import CATEGORIES, DIMENSION

from olav_core.index.index import RecallIndex
from olav_core.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(str(tmp_path / "memory.lance"), json.dumps({"dimension": DIMENSION})) as opened:
        yield opened


@pytest.fixture
def reopen(store: Store, tmp_path: Path) -> Callable[[], RecallIndex]:
    """Make an index over the same table and directory, as another process would."""

    def make(**options: Any) -> RecallIndex:
        other = Store.open(store.uri)
        return RecallIndex(other, tmp_path / "index" / "bm25", categories=CATEGORIES, **options)

    return make


@pytest.fixture
def index(store: Store, tmp_path: Path) -> RecallIndex:
    return RecallIndex(store, tmp_path / "index" / "bm25", categories=CATEGORIES)
