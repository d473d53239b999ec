"""A plug-in as values: where it comes from, what is wrong with it, and what it brought."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from attrs import field, frozen

#: The distribution whose plug-ins are the built-ins: a fault in one of them always raises.
BUILTIN_DISTRIBUTION = "olav-core"
#: Stands where a distribution would for single files of a workspace and for refs given to build_registry.
WORKSPACE, GIVEN = "workspace", "given"

#: Kind of spec, as in the hook's name `olav_register_<kind>` -> one of it, for messages.
SINGULAR: Final[Mapping[str, str]] = MappingProxyType(
    {
        "categories": "category",
        "embedders": "embedder",
        "rankers": "ranker",
        "gates": "gate",
        "redactors": "redactor",
        "verb_matchers": "verb matcher",
        "confirmations": "confirmation lexicon",
        "agent_middleware": "agent middleware",
        "importers": "importer",
        "commands": "command",
        "suites": "benchmark suite",
        "directives": "directive folder",
        "lexicons": "lexicon",
    }
)

State = Literal["loaded", "broken", "disabled"]


def comparable_name(distribution: str) -> str:
    """Return the distribution's name as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@frozen(kw_only=True)
class PluginRef:
    """A plug-in that can be loaded. `entry_point` is its value (`olav_ticket`), or the file's name."""

    name: str
    distribution: str
    load: Callable[[], object] = field(repr=False, eq=False)
    version: str = ""
    entry_point: str = ""
    file: Path | None = None

    @property
    def builtin(self) -> bool:
        return self.distribution == BUILTIN_DISTRIBUTION

    @property
    def key(self) -> str:
        """The unambiguous name, `<distribution>:<entry-point name>`, that OLAV_DISABLE takes too."""
        return f"{self.distribution}:{self.name}"

    @property
    def label(self) -> str:
        """Who this is, for messages: distribution, version and entry point."""
        if self.distribution == WORKSPACE:
            return f"workspace plug-in {self.entry_point}"
        who = f"{self.distribution} {self.version}".strip()
        if self.distribution == GIVEN:
            return f"plug-in {self.name} (given by the caller)"
        return f"{who}, entry point '{self.name} = {self.entry_point}'"


@frozen
class Problem:
    """What is wrong, and the mend; not yet bound to a plug-in."""

    message: str
    mend: str


@frozen(kw_only=True)
class PluginFault:
    """One fault of one plug-in. `kind` (`categories` …) and `spec_id` are empty for the whole plug-in.

    A warning never raises, not even under OLAV_STRICT=1.
    """

    plugin: str
    distribution: str
    version: str
    entry_point: str
    message: str
    mend: str
    kind: str = ""
    spec_id: str = ""
    label: str = ""
    warning: bool = False
    error: BaseException | None = field(default=None, repr=False, eq=False)

    @classmethod
    def of(
        cls,
        ref: PluginRef,
        problem: Problem,
        *,
        kind: str = "",
        spec_id: object = "",
        warning: bool = False,
        error: BaseException | None = None,
    ) -> PluginFault:
        return cls(
            plugin=ref.name,
            distribution=ref.distribution,
            version=ref.version,
            entry_point=ref.entry_point,
            message=problem.message,
            mend=problem.mend,
            kind=kind,
            spec_id=spec_id if isinstance(spec_id, str) else repr(spec_id),
            label=ref.label,
            warning=warning,
            error=error,
        )

    @property
    def builtin(self) -> bool:
        return self.distribution == BUILTIN_DISTRIBUTION

    def __str__(self) -> str:
        spec = f"{SINGULAR[self.kind]} {self.spec_id!r}" if self.kind else ""
        where = " · ".join(part for part in (self.label or self.plugin, spec) if part)
        return f"{where}: {self.message} {self.mend}".rstrip()


@frozen(kw_only=True)
class PluginInfo:
    """A plug-in after loading. `ids`: kind (`categories` …) -> the ids that are in force.

    `state` is `broken` when nothing of it works; a loaded plug-in may still have `faults` in single specs.
    `seconds` is the time its import took.
    """

    name: str
    distribution: str
    version: str
    entry_point: str
    file: Path | None
    state: State
    hooks: tuple[str, ...] = ()
    ids: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    disabled_ids: tuple[str, ...] = ()
    seconds: float = 0.0
    faults: tuple[PluginFault, ...] = ()

    @property
    def builtin(self) -> bool:
        return self.distribution == BUILTIN_DISTRIBUTION
