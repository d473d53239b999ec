"""Calls in their order: which failed for one cause, what went through later, what a run did next."""

from __future__ import annotations

from collections.abc import Sequence

from olav_learn.run_call import RunCall, cause_key


class CallHistory:
    """Built in one pass, so that a long audit trail stays cheap. Places count from 0."""

    def __init__(self, calls: Sequence[RunCall]) -> None:
        self._calls = calls
        self._passed: dict[tuple[str, str], int] = {}
        self._runs: dict[str, list[RunCall]] = {}
        self._ranks: list[int] = []
        #: (tool, cause without what varies) -> places of those failures.
        self.failures: dict[tuple[str, str], list[int]] = {}
        for place, call in enumerate(calls):
            run = self._runs.setdefault(call.run, [])
            self._ranks.append(len(run))
            run.append(call)
            if call.failed:
                self.failures.setdefault((call.tool, cause_key(call.failed)), []).append(place)
            elif call.args_key:
                self._passed[call.tool, call.args_key] = place

    def went_through_later(self, place: int) -> bool:
        """Whether the very same call succeeded after this one."""
        call = self._calls[place]
        return self._passed.get((call.tool, call.args_key), -1) > place

    def after(self, place: int) -> Sequence[RunCall]:
        """Return the later calls of the same run; none when the call belongs to no run."""
        run = self._calls[place].run
        return self._runs[run][self._ranks[place] + 1 :] if run else ()
