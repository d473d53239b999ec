"""One run of the pipeline: what it gathers on its way besides memories."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import Factory, define

from olav_core import tracing
from olav_core.errors import EmbedderUnavailableError


@define
class Run:
    """What failed, what to warn of, and how long each stage took, in milliseconds."""

    degraded: list[str] = Factory(list)
    warnings: list[str] = Factory(list)
    timings_ms: dict[str, float] = Factory(dict)
    started: float = Factory(time.perf_counter)
    traced: bool = Factory(lambda: tracing.switched_on(tracing.VARIABLE))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - began
            self.timings_ms[name] = seconds * 1e3
            if self.traced:
                tracing.say("stage", name, seconds=seconds)

    def told(self, error: Exception) -> bool:
        """Return whether a leg or stage was noted that failed by this error."""
        return any(str(error) in line for line in self.degraded)

    def failed(self, what: str, error: Exception) -> None:
        """Note a leg or stage that failed; the recall goes on without it. An unreachable embedder is told
        once, by what asked it first."""
        if isinstance(error, EmbedderUnavailableError) and self.told(error):
            return
        self.degraded.append(f"{what}: {type(error).__name__}: {error}")
        tracing.say("failed", what, f"{type(error).__name__}: {error}")
