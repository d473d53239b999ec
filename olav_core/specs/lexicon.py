"""A lexicon: words and what they are called in other languages."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class LexiconSpec:
    """Words and what they are called in other languages: the `*.tsv` of a folder, read when a query first
    asks (docs/howto-lexicon.md)."""

    id: str
    purpose: str
    folder: Path
