"""A redactor: what masks secrets, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen


@frozen
class Finding:
    """One secret that was masked: its kind and how often."""

    kind: str
    count: int = 1


@frozen(kw_only=True)
class RedactorSpec:
    """Masks secrets. `redact(value)` takes a string or a JSON value and returns (value, findings), in linear
    time."""

    id: str
    purpose: str
    redact: Callable[[Any], tuple[Any, Sequence[Finding]]]
    priority: int = 50
