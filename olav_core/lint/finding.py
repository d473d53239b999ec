"""One thing that lint found: about which guides, how sure it is, and the mend."""

from __future__ import annotations

from typing import Any, Final, Literal

from attrs import asdict, frozen

Severity = Literal["error", "warning", "note"]
#: The worst first.
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


@frozen(kw_only=True)
class GuideRef:
    """A guide as a person knows it. `path`: the file that brought it, from the workspace; empty by hand."""

    id: str
    name: str
    scope: str
    path: str = ""


@frozen(kw_only=True)
class LintFinding:
    """`heuristic`: read from the words of the texts, so it may be wrong; otherwise it is counted."""

    rule: str
    severity: Severity
    message: str
    mend: str
    guides: tuple[GuideRef, ...]
    heuristic: bool = False

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@frozen(kw_only=True)
class LintReport:
    """All findings, the worst first. `recalls`: how many recalls the log knows; `notes`: what was not
    checked, and why."""

    guides: int
    recalls: int
    findings: tuple[LintFinding, ...]
    notes: tuple[str, ...] = ()

    def worst(self) -> Severity | None:
        """Return the worst severity, None without findings."""
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in SEVERITIES if severity in found), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the stable JSON object of `olav kb lint --json`."""
        return {
            "guides": self.guides,
            "recalls": self.recalls,
            "counts": {each: sum(f.severity == each for f in self.findings) for each in SEVERITIES},
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
        }
