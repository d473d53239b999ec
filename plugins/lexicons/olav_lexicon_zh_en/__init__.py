"""Chinese and English words of operations, software, business and everyday life, and what they mean there."""

from __future__ import annotations

from pathlib import Path

from olav_core import LexiconSpec, hookimpl


@hookimpl
def olav_register_lexicons() -> list[LexiconSpec]:
    return [
        LexiconSpec(
            id="zh_en",
            purpose="Chinese and English of operations, software, data, business and daily life",
            folder=Path(__file__).parent,
        )
    ]
