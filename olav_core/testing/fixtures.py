"""Fixtures for plug-in authors. Installed with olav-core as a pytest plug-in: nothing to import.

- `olav_memory`: an open, empty Memory with the hashing embedder and the installed plug-ins.
- `olav_open`: the same with plug-ins and settings of your choice, as often as you like.
- `olav_clock`: a FakeClock; time stands still at START until you move it.
- `olav_corpus`: twelve small memories, English and Chinese, as drafts.
- `olav_site`: FakeDistributions on the import path.

`OLAV_*` variables, except OLAV_CACHE_DIR, do not reach tests that use one of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.specs import Draft
    from olav_core.testing.fake_clock import FakeClock
    from olav_core.testing.fake_distributions import FakeDistributions


@pytest.fixture
def _no_olav_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("OLAV_") and name != "OLAV_CACHE_DIR":
            monkeypatch.delenv(name)


@pytest.fixture
def olav_open(tmp_path: Path, _no_olav_variables: None) -> Iterator[Callable[..., Memory]]:
    """Open workspaces in folders of their own: `olav_open(plugin, …, config={…})`, see open_workspace.

    All are closed when the test ends.
    """
    from olav_core.testing.workspaces import open_workspace

    with ExitStack() as opened:
        count = 0

        def open_next(*plugins: object, **options: Any) -> Memory:
            nonlocal count
            count += 1
            folder = tmp_path / f"workspace-{count}"
            return opened.enter_context(open_workspace(folder, *plugins, **options))

        yield open_next


@pytest.fixture
def olav_memory(olav_open: Callable[..., Memory]) -> Memory:
    """An open, empty memory with the hashing embedder and the installed plug-ins."""
    return olav_open()


@pytest.fixture
def olav_clock() -> Iterator[FakeClock]:
    """The core's time in this process: `olav_clock.advance(timedelta(days=31))`."""
    from olav_core.testing.fake_clock import FakeClock

    with FakeClock() as clock:
        yield clock


@pytest.fixture
def olav_corpus() -> tuple[Draft, ...]:
    """Twelve small memories, English and Chinese in turn; write them with `remember_many`."""
    from olav_core.testing.corpus import tiny_corpus

    return tiny_corpus()


@pytest.fixture
def olav_site(tmp_path: Path, _no_olav_variables: None) -> Iterator[FakeDistributions]:
    """A folder on the import path to which a test adds distributions."""
    from olav_core.testing.fake_distributions import FakeDistributions

    with FakeDistributions(tmp_path / "site-packages") as site:
        yield site
