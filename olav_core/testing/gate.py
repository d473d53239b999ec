"""The contract of a gate."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import asdict

from olav_core.index.candidates import Candidates
from olav_core.index.pool import Candidate
from olav_core.specs import ArrayGate, Gate, Verdict
from olav_core.testing.contract import ODD_TEXTS, PluginContract
from olav_core.testing.workspaces import make_candidate, make_query

_RAISES = "A gate that raises drops the memory and marks every recall as degraded."


class GateContract(PluginContract):
    """Subclass it in a test file and set `plugin`.

    `options`: as in the category's GateUse. `keeps` and `drops`: candidates whose fate you know, made with
    `make_candidate`.
    """

    kind: ClassVar[str] = "gates"
    options: Mapping[str, Any] = {}
    keeps: tuple[Candidate, ...] = ()
    drops: tuple[Candidate, ...] = ()

    def _gate(self, options: Mapping[str, Any] | None = None) -> Gate:
        gate: Gate = self.spec.factory(self.options if options is None else options)
        return gate

    def _candidates(self) -> list[tuple[str, Candidate]]:
        found = [(f"distance {d}", make_candidate(distance=d)) for d in (0.0, 0.65, 2.0, 4.0)]
        found += [
            (f"canonical distance {d}", make_candidate(distance=0.5, canonical_distance=d))
            for d in (0.0, 0.36, 0.65, 0.75, 2.0)
        ]
        found.append(("a keyword in the query", make_candidate(keyword_strength=1.0)))
        found += [("a known fate", candidate) for candidate in (*self.keeps, *self.drops)]
        return found

    def _decide(self, gate: Gate, candidate: Candidate, what: str, mend: str) -> Verdict:
        with self.calling(f"decide() for {what}", _RAISES, mend):
            verdict = gate.decide(make_query("which router is the border?"), candidate)
        self.require(
            isinstance(verdict, Verdict) and isinstance(verdict.keep, bool),
            f"decide() returned {verdict!r} for {what}.",
            "The pipeline reads `keep`, the trace shows `reason`.",
            "Return Verdict(keep, reason) with a plain bool (`bool(...)` around numpy's).",
        )
        return verdict

    def test_it_works_without_options(self) -> None:
        with self.calling(
            "the factory with no options",
            "`GateUse(id)` names a gate without options, and a configuration may too.",
            "Read every option with `options.get(name, default)`.",
        ):
            self._gate({})

    def test_every_verdict_gives_its_reason(self) -> None:
        gate = self._gate()
        for what, candidate in self._candidates():
            verdict = self._decide(gate, candidate, what, "Decide every candidate; see what raised.")
            self.require(
                isinstance(verdict.reason, str) and verdict.reason.strip(),
                f"the verdict for {what} has the reason {verdict.reason!r}.",
                "`olav recall --explain` and `olav why` show nothing but the reason.",
                'Say what was compared with what: `Verdict(False, f"state is {state}")`.',
            )

    def test_it_decides_without_a_distance(self) -> None:
        candidate = make_candidate(distance=None)
        mend = "Check `candidate.canonical_distance is None` and `candidate.distance is None`, and decide."
        self._decide(self._gate(), candidate, "a candidate without a distance", mend)
        uncalibrated = make_candidate(distance=0.4, canonical_distance=None)
        self._decide(self._gate(), uncalibrated, "an embedder without a distance scale", mend)

    def test_it_decides_without_metadata(self) -> None:
        mend = "Read metadata with `.get(key, default)`."
        gate = self._gate()
        self._decide(gate, make_candidate(metadata={}), "a memory without metadata", mend)
        for text in ODD_TEXTS:
            self._decide(gate, make_candidate(text), f"the text {text[:40]!r}", "Take any text.")

    def test_it_decides_on_all_as_on_each(self) -> None:
        gate = self._gate()
        if not isinstance(gate, ArrayGate):
            return
        mend = "Compute in `decide_all` what `decide` does, NaN where it gets None; `keep` is bool [m]."
        whats, candidates = zip(*self._candidates(), strict=True)
        query = make_query("which router is the border?")
        with self.calling("decide_all()", "Then every candidate is decided one by one, slowly.", mend):
            verdicts = gate.decide_all(query, Candidates.of(candidates))
            keep = verdicts.keep.tolist()
            reasons = [verdicts.reason(place) for place in range(len(candidates))]
        self.require(
            str(verdicts.keep.dtype) == "bool" and len(keep) == len(candidates),
            f"decide_all() gave {verdicts.keep!r} for {len(candidates)} candidates.",
            "The pipeline takes one bool per candidate.",
            mend,
        )
        for what, candidate, kept, reason in zip(whats, candidates, keep, reasons, strict=True):
            alone = self._decide(gate, candidate, what, "See what raised.")
            self.require(
                kept is alone.keep and (kept or (isinstance(reason, str) and bool(reason.strip()))),
                f"{what}: decide() says {alone}, decide_all() {kept} because {reason!r}.",
                "Which of the two is asked must not matter.",
                mend,
            )

    def test_it_is_pure(self) -> None:
        gate, twin = self._gate(), self._gate()
        for what, candidate in self._candidates():
            before = copy.deepcopy((candidate.record, _values(candidate)))
            verdicts = [self._decide(g, candidate, what, "See what raised.") for g in (gate, twin, gate)]
            self.require(
                len({verdict.keep for verdict in verdicts}) == 1,
                f"three looks at one candidate ({what}) gave {[v.keep for v in verdicts]}.",
                "Recalls run in parallel and are repeated; the trace must tell what happened.",
                "Keep no state between calls; take the time from `query.now`.",
            )
            self.require(
                before == (candidate.record, _values(candidate)),
                f"decide() changed the candidate ({what}).",
                "Later gates, the selection and the trace see the same object.",
                "Only read the candidate.",
            )

    def test_its_own_samples_meet_their_fate(self) -> None:
        for fate, candidates in ((True, self.keeps), (False, self.drops)):
            for candidate in candidates:
                verdict = self._decide(self._gate(), candidate, "a known fate", "See what raised.")
                self.require(
                    verdict.keep is fate,
                    f"{candidate.record.text!r} with {dict(candidate.record.metadata)} should be "
                    f"{'kept' if fate else 'dropped'}, the gate says: {verdict.reason}.",
                    "You said so in `keeps` and `drops`.",
                    "Mend the gate or the sample.",
                )


def _values(candidate: Candidate) -> dict[str, Any]:
    return asdict(candidate, recurse=False, filter=lambda field, _: not field.name.startswith("_"))
