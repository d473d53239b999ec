"""Redactor `secrets`: masks passwords, keys and tokens in texts and JSON values before they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olav_core import RedactorSpec, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olav_core import Finding


def _redact(value: Any) -> tuple[Any, Sequence[Finding]]:
    from olav_secrets.structure import redact  # the rule tables compile on first use, not on import

    return redact(value)


@hookimpl
def olav_register_redactors() -> list[RedactorSpec]:
    return [
        RedactorSpec(
            id="secrets",
            purpose="Mask passwords, keys, tokens and private keys, in texts and structures",
            redact=_redact,
        )
    ]
