"""What an import needs of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from olav_core.records import MemoryRecord
from olav_core.specs import Draft


class ImportTarget(Protocol):
    """`olav_core.Memory` is one."""

    @property
    def registry(self) -> Any: ...

    @property
    def store(self) -> Any: ...

    def prepare(self, draft: Draft) -> MemoryRecord: ...

    def write(self, records: Sequence[MemoryRecord], *, vectors_from: Mapping[str, str]) -> Sequence[Any]: ...

    def release(self, gone: Sequence[MemoryRecord]) -> Sequence[str]: ...
