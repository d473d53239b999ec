"""The examination: every check in its order, each on its own, and the safe repairs on request."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve, frozen

from olav_core.doctor import disk, embedder, index, lexicon, plugins, spool, table
from olav_core.doctor.diagnosis import Diagnosis, Level, error, ok
from olav_core.doctor.patient import Patient
from olav_core.errors import OlavError

Findings = Iterable[Diagnosis]


@frozen
class Check:
    """One check. It is left out when a part of the workspace that it needs (a property of Patient) cannot be
    opened: that is the finding of another check."""

    name: str
    run: Callable[[Patient], Findings]
    needs: tuple[str, ...] = ()


def _workspace(patient: Patient) -> Findings:
    yield ok(f"workspace {patient.workspace.root}")


def _settings(patient: Patient) -> Findings:
    yield ok(f"settings of {patient.workspace.config_path} are valid" if patient.settings else "")


def _categories(patient: Patient) -> Findings:
    yield ok(f"{len(patient.categories)} categories with the workspace's rules")


def _ranking(patient: Patient) -> Findings:
    from olav_core.recall.chain import build_chain

    chain = build_chain(patient.registry, patient.settings, patient.categories)
    yield ok(f"rankers and gates take their options; legs: {', '.join(chain.legs)}")


CHECKS: tuple[Check, ...] = (
    Check("workspace", _workspace),
    Check("settings", _settings, ("workspace",)),
    Check("folders", disk.folders, ("workspace",)),
    Check("disk space", disk.space, ("workspace",)),
    Check("plug-ins", plugins.faults, ("workspace",)),
    Check("entry points", plugins.stale, ()),
    Check("categories", _categories, ("settings", "registry")),
    Check("ranking", _ranking, ("categories",)),
    Check("store", table.opens, ("settings",)),
    Check("rows", table.rows, ("store",)),
    Check("orphans", plugins.orphans, ("store", "categories")),
    Check("side tables", table.side_tables, ("store",)),
    Check("leftovers", table.leftovers, ("store",)),
    Check("versions", table.versions, ("store",)),
    Check("maintenance", table.maintenance, ("store",)),
    Check("expired rows", table.expired, ("store",)),
    Check("embedder", embedder.loads, ("settings", "registry")),
    Check("fingerprint", embedder.fingerprint, ("store", "space")),
    Check("gates", embedder.gates, ("handle", "categories", "store")),
    Check("calibration", embedder.calibration, ("store",)),
    Check("languages", embedder.languages, ("store", "handle")),
    Check("index", index.coverage, ("store",)),
    Check("lexicons", lexicon.lines, ("workspace",)),
    Check("captures", spool.captures, ("workspace",)),
)


@frozen(kw_only=True)
class Examination:
    """Every finding, in the order of the checks; `repairs` are the findings of the first look that a repair
    was tried for, each with what it did."""

    workspace: str | None
    findings: tuple[Diagnosis, ...]
    repairs: tuple[Diagnosis, ...] = ()

    @property
    def level(self) -> Level:
        """The worst level found."""
        levels = {finding.level for finding in self.findings}
        return "error" if "error" in levels else "warning" if "warning" in levels else "ok"

    def to_json(self) -> dict[str, Any]:
        """The object of `olav doctor --json`."""
        counts = Counter(finding.level for finding in self.findings)
        return {
            "workspace": self.workspace,
            "level": self.level,
            "counts": {level: counts[level] for level in ("ok", "warning", "error")},
            "findings": [
                {name: getattr(finding, name) for name in ("check", "level", "what", "mend")}
                for finding in self.findings
            ],
            "repairs": [
                {name: getattr(finding, name) for name in ("check", "what", "repaired")}
                for finding in self.repairs
            ],
        }


def examine(path: str | os.PathLike[str] | None = None, *, repair: bool = False) -> Examination:
    """Examine the workspace at `path` (default: the nearest one upwards). Raises nothing that it can report.

    With `repair` what is safe is done first: side tables, index and clean-up, never a change of a memory.
    The findings are then those of a second look.
    """
    first = _look(Patient(path))
    treatable = [finding for finding in first.findings if finding.repair is not None]
    if not repair or not treatable:
        return first
    treated = tuple(_treat(finding) for finding in treatable)
    return evolve(_look(Patient(path)), repairs=treated)


def _look(patient: Patient) -> Examination:
    findings: list[Diagnosis] = []
    try:
        for check in CHECKS:
            if all(_opens(patient, part) for part in check.needs):
                findings += [evolve(finding, check=check.name) for finding in _run(check, patient)]
        root = str(patient.workspace.root) if _opens(patient, "workspace") else None
    finally:
        patient.close()
    return Examination(workspace=root, findings=tuple(findings))


def _opens(patient: Patient, part: str) -> bool:
    try:
        getattr(patient, part)
    except Exception:  # told by the check whose part it is
        return False
    return True


def _run(check: Check, patient: Patient) -> list[Diagnosis]:
    try:
        return list(check.run(patient))
    except OlavError as failure:
        return [error(str(failure), "The message says what to do.")]
    except Exception as failure:
        return [
            error(
                f"the check failed with {type(failure).__name__}: {failure}",
                "Run `olav doctor` again; if it stays, report it with this message.",
            )
        ]


def _treat(finding: Diagnosis) -> Diagnosis:
    assert finding.repair is not None
    try:
        return evolve(finding, repaired=finding.repair())
    except Exception as failure:
        return evolve(finding, repaired=f"failed: {failure}")
