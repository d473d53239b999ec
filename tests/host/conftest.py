"""On a busy machine any import may take long; the test of slow imports sets its own bound."""

from __future__ import annotations

import pytest

from olav_core.host import loading


@pytest.fixture(autouse=True)
def _no_import_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "SLOW_IMPORT", float("inf"))
