"""A suite kind: benchmark data that `olav bench` can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from olav_core.suite import Suite


@frozen(kw_only=True)
class SuiteSpec:
    """A kind of benchmark data for `olav bench`. `files` says which paths it reads; `load(paths)` returns a
    Suite and raises RecordError for data that is not of that kind."""

    id: str
    purpose: str
    files: str
    load: Callable[[Sequence[Path]], Suite]
