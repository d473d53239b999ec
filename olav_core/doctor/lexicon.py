"""The check of the workspace's own lexicons."""

from __future__ import annotations

from collections.abc import Iterable

from olav_core.doctor.diagnosis import Diagnosis, counted, error, ok
from olav_core.doctor.patient import Patient
from olav_core.errors import ConfigError
from olav_core.text.lexicon_file import SUFFIX, read_lines


def lines(patient: Patient) -> Iterable[Diagnosis]:
    """Every line of every file has the form: one that has not leaves the leg `translated` out."""
    folder = patient.workspace.lexicon_directory
    found = 0
    faulty = False
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            found += len(read_lines(path))
        except ConfigError as failure:
            faulty = True
            yield error(
                str(failure), "Mend the line (docs/howto-lexicon.md). Recalls translate nothing until then."
            )
    if not faulty:
        yield ok(f"{counted(found, 'line')} of the workspace's own lexicons")
