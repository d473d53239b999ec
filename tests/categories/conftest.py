"""Records as the write path makes them, without a store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from olav_core import CategorySpec, Draft, MemoryRecord, build_registry
from olav_core.host.registry import Registry
from olav_core.writer import Writer

Prepare = Callable[..., MemoryRecord]


@pytest.fixture(scope="session")
def registry() -> Registry:
    return build_registry()


@pytest.fixture(scope="session")
def spec(registry: Registry) -> Callable[[str], CategorySpec]:
    return registry.category


@pytest.fixture(scope="session")
def prepare(registry: Registry) -> Prepare:
    writer = Writer(None, None, registry, registry.categories, lambda: None)  # type: ignore[arg-type]

    def make(
        category: str, metadata: dict[str, Any] | None = None, text: str = "text", **rest: Any
    ) -> MemoryRecord:
        rest.setdefault("origin", sorted(registry.category(category).origins)[-1])
        return writer.prepare(Draft(text=text, category=category, metadata=metadata or {}, **rest))

    return make
