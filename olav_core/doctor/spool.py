"""The check of captured calls: none failed, none waits for long."""

from __future__ import annotations

import time
from collections.abc import Iterable

from olav_core.doctor.diagnosis import Diagnosis, counted, ok, warning
from olav_core.doctor.patient import Patient

#: Seconds after which a captured call that is not stored yet is a finding: drains run every few seconds.
LATE = 3600


def captures(patient: Patient) -> Iterable[Diagnosis]:
    """Every captured call is stored, and none was given up."""
    directory = patient.workspace.directory / "spool"
    if not directory.is_dir():
        yield ok("no captured calls wait")
        return
    failed = directory / "failed.jsonl"
    given_up = failed.read_bytes().count(b"\n") if failed.is_file() else 0
    if given_up:
        yield warning(
            f"{counted(given_up, 'captured call')} could not be stored, kept in {failed}",
            "The lines say why. Mend that, then run `olav capture drain --retry-failed`.",
        )
    waiting = [path for path in directory.glob("*.jsonl") if path != failed]
    calls = sum(path.read_bytes().count(b"\n") for path in waiting)
    oldest = max((time.time() - path.stat().st_mtime for path in waiting), default=0.0)
    if calls and oldest > LATE:
        yield warning(
            f"{counted(calls, 'captured call')} not stored yet, the oldest for {oldest / 3600:.0f} hours",
            "Run `olav capture drain`.",
        )
    elif not given_up:
        yield ok(f"{counted(calls, 'captured call')} not stored yet" if calls else "no captured calls wait")
