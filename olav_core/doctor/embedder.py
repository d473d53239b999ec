"""Checks of the embedder: does it load, is the store in its space, do gates and languages fit it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from olav_core.doctor.diagnosis import Diagnosis, error, memories, ok, warning
from olav_core.doctor.patient import Patient
from olav_core.embedding.fingerprint import Fingerprint, check
from olav_core.errors import EmbeddingSpaceMismatchError
from olav_core.text.language import language_of

#: Growth or shrinkage of a store after which its calibration is doubted: the nearest noise comes closer as it
#: grows (measured: of true hits, .85 were kept at 3 % noise among 10 rows, .75 among 50).
DRIFT = 1.5


def loads(patient: Patient) -> Iterable[Diagnosis]:
    """The embedder is registered, its model files are there and whole, and it embeds."""
    space = patient.space
    yield ok(f"embedder {space.embedder!r} ({space.name}, {space.dimension} dimensions) loads and embeds")


def fingerprint(patient: Patient) -> Iterable[Diagnosis]:
    """The stored vectors are of the configured embedder."""
    stored = Fingerprint.from_json(patient.store.fingerprint)
    try:
        check(stored, patient.space, store=patient.store.uri)
    except EmbeddingSpaceMismatchError as failure:
        yield error(str(failure), f"Run `olav kb reembed --to {patient.handle.id}`.")
    else:
        yield ok("the stored vectors are of the configured embedder")


def gates(patient: Patient) -> Iterable[Diagnosis]:
    """Gates that compare distances have a measured scale to compare on."""
    gated = sorted(spec.id for spec in patient.categories.values() if spec.gates)
    applied = patient.store.calibrations.current()
    if patient.handle.scale is None and gated and not (applied and applied.scale):
        yield warning(
            f"embedder {patient.handle.id!r} has no measured distance scale: the gates of "
            f"{', '.join(gated)} compare raw distances",
            "Run `olav calibrate --apply`, or use an embedder that ships a scale (e5, minilm).",
        )
    else:
        yield ok(f"{len(gated)} gated categories, distances are calibrated" if gated else "no gates")


def calibration(patient: Patient) -> Iterable[Diagnosis]:
    """What `olav calibrate` found still fits what is stored."""
    newest = next(reversed(patient.store.calibrations.all()), None)
    if newest is None or not (newest.scale or newest.thresholds):
        yield ok("distance scale and thresholds are as shipped")
        return
    again = "Run `olav calibrate --apply`."
    if newest.fingerprint != patient.store.fingerprint:
        yield warning(f"calibration {newest.version} was made for another embedder and is not used", again)
        return
    then, now = sum(newest.rows.values()), patient.store.count()
    if max(then, now) > DRIFT * max(1, min(then, now)):
        yield warning(
            f"calibration {newest.version} was made among {memories(then)}, there are {now:,} now: among "
            "more, the nearest comes closer by chance",
            again,
        )
    else:
        yield ok(f"calibration {newest.version} of {newest.applied_at:%Y-%m-%d} fits {memories(now)}")


def languages(patient: Patient) -> Iterable[Diagnosis]:
    """The embedder is good at the languages that are stored."""
    known = patient.handle.spec.languages
    if not known:
        yield ok(f"embedder {patient.handle.id!r} names no languages")
        return
    rows: Counter[str] = Counter()
    for part in patient.store.batches(["search_text"]):
        rows.update(language_of(text) for text in part.column("search_text").to_pylist())
    foreign = {name: count for name, count in sorted(rows.items()) if name not in known}
    for name, count in foreign.items():
        yield warning(
            f"{memories(count)} in {name!r}, which embedder {patient.handle.id!r} does not know "
            f"({', '.join(known)}): found by words only",
            "Run `olav kb reembed --to e5` (about 100 languages).",
        )
    if not foreign:
        yield ok(f"languages {', '.join(sorted(rows)) or 'none yet'}: the embedder knows them")
