"""Checks of the disk: may the workspace be written, and is there room for maintenance."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from olav_core.doctor.diagnosis import Diagnosis, error, ok, warning
from olav_core.doctor.patient import Patient
from olav_core.errors import OlavError

#: Free bytes below which writes are about to fail.
SCARCE = 100 * 2**20


def folders(patient: Patient) -> Iterable[Diagnosis]:
    """Every folder of the workspace that exists may be read and written."""
    closed = [path for path in _folders(patient) if not os.access(path, os.R_OK | os.W_OK | os.X_OK)]
    for path in closed:
        yield error(
            f"{path} may not be written by this user (uid {os.geteuid()}): recall works, nothing is stored",
            f"Mount it writable, or `chown -R {os.geteuid()} {patient.workspace.directory}`.",
        )
    if not closed:
        yield ok("every folder may be read and written")


def space(patient: Patient) -> Iterable[Diagnosis]:
    """There is room for one more copy of the store: compaction writes new files before it drops the old."""
    folder = _database(patient) or patient.workspace.directory
    free = shutil.disk_usage(folder).free
    needed = max(SCARCE, _bytes(folder))
    figures = f"{free / 2**20:,.0f} MB free, maintenance may need {needed / 2**20:,.0f} MB"
    if free < SCARCE:
        yield error(figures, f"Free space on the disk of {folder}.")
    elif free < needed:
        yield warning(figures, f"Free space on the disk of {folder}, or run `olav kb optimize` more often.")
    else:
        yield ok(figures)


def _folders(patient: Patient) -> list[Path]:
    root = patient.workspace.directory
    found = [root, *(path for path in root.iterdir() if path.is_dir())]
    database = _database(patient)
    if database is not None:
        found += [database.parent, database, *(path for path in database.iterdir() if path.is_dir())]
    return sorted(set(found))


def _database(patient: Patient) -> Path | None:
    try:
        database = patient.database
    except OlavError:
        return None
    return database if database is not None and database.is_dir() else None


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
