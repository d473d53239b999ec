"""Checks of the plug-ins: do they load, are all of them visible, does every row have its category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from olav_core.doctor.diagnosis import Diagnosis, error, memories, ok, warning
from olav_core.doctor.patient import Patient
from olav_core.host.discovery import stale_entry_points


def faults(patient: Patient) -> Iterable[Diagnosis]:
    """Every plug-in loads and every spec is valid."""
    registry = patient.registry
    for fault in registry.faults:
        spec = f" · {fault.kind}: {fault.spec_id}" if fault.kind else ""
        make = warning if fault.warning else error
        yield make(f"{fault.label or fault.plugin}{spec}: {fault.message}", fault.mend)
    if not registry.faults:
        yield ok(f"{len(registry.plugins)} plug-ins, no faults")


def stale(patient: Patient) -> Iterable[Diagnosis]:
    """No project installed in editable mode has entry points that its installation does not know."""
    found = stale_entry_points()
    for distribution, names in sorted(found.items()):
        yield error(
            f"{distribution} gained {', '.join(names)} in its pyproject.toml since it was installed: "
            "they are invisible",
            f"Run `pip install -e` for {distribution} again.",
        )
    if not found:
        yield ok("no entry point waits for a new install")


def orphans(patient: Patient) -> Iterable[Diagnosis]:
    """Every stored category is installed."""
    rows: Counter[str] = Counter()
    for (category, _), count in patient.store.counts().items():
        rows[category] += count
    missing = {name: count for name, count in sorted(rows.items()) if name not in patient.categories}
    for name, count in missing.items():
        why = (
            "its plug-in is switched off or broken"
            if name in patient.registry.absent("categories")
            else "no plug-in brings it"
        )
        yield warning(
            f"{memories(count)} of category {name!r}: kept and listed, not injected, because {why}",
            f"Install the plug-in that brings {name!r}; `olav kb list --category {name}` shows them.",
        )
    if not missing:
        yield ok(f"{memories(sum(rows.values()))}, every category is installed")
