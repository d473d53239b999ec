"""What all tests share: no settings from outside, one cache for converted models, no deadlines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes tells how busy the machine is, not whether the code is right.
settings.register_profile("olav", deadline=None)
settings.load_profile("olav")


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that all workers of one run share, so that a model is converted once."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    return shared / "model-cache"


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside(model_cache: Path) -> Iterator[None]:
    saved = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("OLAV_")}
    os.environ["OLAV_CACHE_DIR"] = str(model_cache)
    os.environ["OLAV_REDACTION_KEY_FILE"] = str(model_cache / "redaction.key")
    yield
    del os.environ["OLAV_CACHE_DIR"], os.environ["OLAV_REDACTION_KEY_FILE"]
    os.environ.update(saved)
