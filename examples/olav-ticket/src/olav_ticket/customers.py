"""Redactor `ticket_customers`: masks customer numbers such as CUST-204871."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from olav_core import Finding, RedactorSpec, hookimpl

MASK = "[customer]"
_NUMBER = re.compile(r"\bCUST-\d{4,10}\b")


def redact(value: Any) -> tuple[Any, Sequence[Finding]]:
    masked, count = _mask(value)
    return masked, [Finding("customer", count)] if count else []


def _mask(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return _NUMBER.subn(MASK, value)
    if isinstance(value, list):
        pairs = [_mask(item) for item in value]
        return [item for item, _ in pairs], sum(count for _, count in pairs)
    if isinstance(value, dict):
        found = {key: _mask(item) for key, item in value.items()}
        return {key: item for key, (item, _) in found.items()}, sum(count for _, count in found.values())
    return value, 0


@hookimpl
def olav_register_redactors() -> list[RedactorSpec]:
    return [RedactorSpec(id="ticket_customers", purpose="Mask customer numbers", redact=redact)]
