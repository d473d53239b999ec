"""The registry: every spec that plug-ins brought, frozen, in an order that is data."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, frozen

from olav_core import tracing
from olav_core.errors import PluginError, RecordError, UnknownIdError, did_you_mean
from olav_core.host.plugin import SINGULAR, PluginFault, PluginInfo
from olav_core.records import check_scope
from olav_core.specs import (
    CategorySpec,
    CommandSpec,
    ConfirmationSpec,
    DirectiveSpec,
    EmbedderSpec,
    Finding,
    GateSpec,
    ImporterSpec,
    LexiconSpec,
    MiddlewareSpec,
    RankerSpec,
    RedactorSpec,
    SuiteSpec,
    VerbMatcherSpec,
)

if TYPE_CHECKING:
    import logging

    from olav_core.records import MemoryRecord

T = TypeVar("T")
#: (the plug-in's label, its implementation)
Observer = tuple[str, Callable[..., Any]]


def _logger() -> logging.Logger:
    import logging  # only when there is something to say: it costs a tenth of `olav --help`

    return logging.getLogger(__name__)


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@frozen(kw_only=True, eq=False)
class Registry:
    """What the installed plug-ins offer, by id. Mappings are read-only and iterate in their order of use.

    Rankers: stage, priority, distribution, id. Redactors, agent middleware: priority, distribution, id. The
    others: distribution, id. `plugins` has every plug-in that was found, `faults` everything that is wrong.
    """

    categories: Mapping[str, CategorySpec] = field(factory=_nothing)
    embedders: Mapping[str, EmbedderSpec] = field(factory=_nothing)
    rankers: Mapping[str, RankerSpec] = field(factory=_nothing)
    gates: Mapping[str, GateSpec] = field(factory=_nothing)
    redactors: Mapping[str, RedactorSpec] = field(factory=_nothing)
    verb_matchers: Mapping[str, VerbMatcherSpec] = field(factory=_nothing)
    confirmations: Mapping[str, ConfirmationSpec] = field(factory=_nothing)
    agent_middleware: Mapping[str, MiddlewareSpec] = field(factory=_nothing)
    importers: Mapping[str, ImporterSpec] = field(factory=_nothing)
    commands: Mapping[str, CommandSpec] = field(factory=_nothing)
    suites: Mapping[str, SuiteSpec] = field(factory=_nothing)
    directives: Mapping[str, DirectiveSpec] = field(factory=_nothing)
    lexicons: Mapping[str, LexiconSpec] = field(factory=_nothing)
    plugins: tuple[PluginInfo, ...] = ()
    faults: tuple[PluginFault, ...] = ()
    #: Plug-in label -> how many calls of its observers raised.
    observer_failures: dict[str, int] = field(factory=dict, init=False)
    _written: tuple[Observer, ...] = ()
    _recalled: tuple[Observer, ...] = ()
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def category(self, id: str) -> CategorySpec:
        """Return the category; raises UnknownIdError with the nearest known id."""
        return self._find("categories", self.categories, id)

    def embedder(self, id: str) -> EmbedderSpec:
        """Return the embedder; raises UnknownIdError with the nearest known id."""
        return self._find("embedders", self.embedders, id)

    def ranker(self, id: str) -> RankerSpec:
        """Return the ranker; raises UnknownIdError with the nearest known id."""
        return self._find("rankers", self.rankers, id)

    def gate(self, id: str) -> GateSpec:
        """Return the gate; raises UnknownIdError with the nearest known id."""
        return self._find("gates", self.gates, id)

    def suite(self, id: str) -> SuiteSpec:
        """Return the benchmark suite; raises UnknownIdError with the nearest known id."""
        return self._find("suites", self.suites, id)

    def importer_for(self, path: Path | str) -> ImporterSpec | None:
        """Return the importer with the longest suffix that the file's name ends in (case is ignored)."""
        name = Path(path).name.casefold()
        matches = [
            (len(suffix), spec)
            for spec in self.importers.values()
            for suffix in spec.suffixes
            if name.endswith(suffix.casefold())
        ]
        return max(matches, key=lambda match: match[0])[1] if matches else None

    def owner(self, kind: str, id: str) -> PluginInfo:
        """Return the plug-in that brought this id of this kind (`categories`, `rankers` …)."""
        for plugin in self.plugins:
            if id in plugin.ids.get(kind, ()):
                return plugin
        raise self._unknown(kind, id, getattr(self, kind))

    def absent(self, kind: str) -> frozenset[str]:
        """Return ids of this kind that are known to exist but are not in force: switched off or broken."""
        named = {fault.spec_id for fault in self.faults if fault.kind == kind}
        off = {id for plugin in self.plugins for id in plugin.disabled_ids}
        off |= {plugin.name for plugin in self.plugins if plugin.state != "loaded"}
        return frozenset((named | off) - set(getattr(self, kind)))

    def redact(self, value: Any) -> tuple[Any, tuple[Finding, ...]]:
        """Return the value after every redactor in turn, and what they masked, summed by kind.

        Raises PluginError when a redactor fails: the value must then be neither stored nor shown. The
        message leaves the redactor's own words out, they may quote the secret.
        """
        counts: dict[str, int] = {}
        for spec in self.redactors.values():
            try:
                value, findings = spec.redact(value)
                for finding in findings:
                    counts[finding.kind] = counts.get(finding.kind, 0) + finding.count
            except Exception as error:
                failure = type(error).__name__
            else:
                continue
            # Outside the handler, so that no chained traceback carries the value along.
            owner = self.owner("redactors", spec.id)
            raise PluginError(
                f"redactor '{spec.id}' of {owner.distribution} {owner.version} failed with {failure}; "
                f"the value was held back. Mend the redactor, or switch it off with OLAV_DISABLE={spec.id}."
            )
        return value, tuple(Finding(kind, count) for kind, count in counts.items())

    def failure_read(self, result: Any, tool: str) -> str:
        """Return the id of the verb matcher that reads a tool's result as a failure, "" when none does.

        A tool may fail in its own words under a status that says it went well.
        """
        from olav_core.capture.outcome import failure_read

        return failure_read(self.verb_matchers.values(), result, tool)

    def confirms(self, message: str) -> bool:
        """Tell whether a person's message is a yes to a draft, by the installed confirmation lexicons."""
        from olav_core.drafts.lexicon import lexicon_of

        return lexicon_of(tuple(self.confirmations.values())).confirms(message)

    def confirmation_question(self) -> str:
        """Return the question that ends a proposal, with the answers that would be understood."""
        from olav_core.drafts.lexicon import question_of

        return question_of(tuple(self.confirmations.values()))

    def public_scope(self, scope: object) -> str:
        """Return the scope or raise RecordError, also when it spells a secret: masked it were another."""
        checked = check_scope(scope)
        masked, findings = self.redact(checked)
        if findings or masked != checked:
            raise RecordError(
                f"scope {masked!r} holds what looks like a secret, and scopes are not masked. Rename it."
            )
        return checked

    def notify_written(self, record: MemoryRecord) -> None:
        """Tell every observer of olav_memory_written; one that raises is logged and counted."""
        self._notify("olav_memory_written", self._written, record)

    def notify_recalled(self, recall: Any) -> None:
        """Tell every observer of olav_memories_recalled; one that raises is logged and counted."""
        self._notify("olav_memories_recalled", self._recalled, recall)

    def _notify(self, hook: str, observers: tuple[Observer, ...], value: object) -> None:
        for label, observer in observers:
            try:
                observer(value)
                tracing.say("hook", hook, label)
            except Exception as error:
                tracing.say("hook", hook, f"{label} raised {type(error).__name__}")
                with self._lock:
                    failures = self.observer_failures[label] = self.observer_failures.get(label, 0) + 1
                # The first failure says it all; a log line per recall would bury everything else.
                log = _logger().warning if failures == 1 else _logger().debug
                log(
                    "%s: observer %s raised %s; the operation stands. `olav plugins` counts further ones.",
                    label,
                    hook,
                    type(error).__name__,
                    exc_info=failures == 1,
                )

    def _find(self, kind: str, specs: Mapping[str, T], id: str) -> T:
        try:
            return specs[id]
        except (KeyError, TypeError):
            raise self._unknown(kind, id, specs) from None

    def _unknown(self, kind: str, id: object, specs: Mapping[str, Any]) -> UnknownIdError:
        singular = SINGULAR[kind]
        if any(
            id in plugin.disabled_ids or (plugin.state == "disabled" and plugin.name == id)
            for plugin in self.plugins
        ):
            return UnknownIdError(
                f"{singular} {id!r} is switched off by OLAV_DISABLE. Take it out of that variable."
            )
        own = [f for f in self.faults if (f.kind, f.spec_id) == (kind, id) or (f.plugin == id and not f.kind)]
        if own:
            return UnknownIdError(f"{singular} {id!r} is not available. {'; '.join(map(str, own))}")
        broken = sum(plugin.state == "broken" for plugin in self.plugins)
        hint = f" {broken} plug-in(s) failed to load: see `olav plugins`." if broken else ""
        return UnknownIdError(f"no {singular} {id!r} is registered.{did_you_mean(str(id), specs)}{hint}")


def build_registry(
    refs: Iterable[object] | None = None,
    *,
    plugin_dir: Path | None = None,
    disabled: Iterable[str] | None = None,
    strict: bool | None = None,
    kinds: Iterable[str] | None = None,
) -> Registry:
    """Load plug-ins and return a fresh registry.

    `refs`: modules, objects or PluginRefs; None finds the installed ones and those in `plugin_dir`.
    `disabled`: entry-point names, spec ids or `<distribution>:<entry-point name>`; None reads OLAV_DISABLE.
    `strict`: raise for any fault; None reads OLAV_STRICT. `kinds`: only these kinds of specs (`("commands",)`
    is the fast path of `olav --help`: plug-ins whose source names none of their hooks are not imported).

    Raises PluginError, with every fault in it, for a broken built-in, and for any fault when strict.
    Otherwise what is broken stays out, is logged once, and stands in `Registry.faults`.
    """
    from olav_core.host.assembly import assemble

    if disabled is None:
        disabled = os.environ.get("OLAV_DISABLE", "").replace(",", " ").split()
    if strict is None:
        strict = tracing.switched_on("OLAV_STRICT")
    registry = assemble(
        None if refs is None else tuple(refs),
        plugin_dir=plugin_dir,
        disabled=frozenset(disabled),
        kinds=None if kinds is None else tuple(kinds),
    )
    errors = [fault for fault in registry.faults if not fault.warning]
    if any(fault.builtin for fault in errors) or (strict and errors):
        causes = [fault.error for fault in errors if isinstance(fault.error, Exception)]
        lines = "\n".join(f"  - {fault}" for fault in errors)
        raise PluginError(f"{len(errors)} plug-in fault(s):\n{lines}", faults=registry.faults) from (
            ExceptionGroup("what the plug-ins raised", causes) if causes else None
        )
    for fault in registry.faults:
        _logger().warning("%s", fault)
    return registry
