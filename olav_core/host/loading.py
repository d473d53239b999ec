"""Loading: import each plug-in, check its hooks, collect its specs. A fault never stops the next plug-in."""

from __future__ import annotations

import importlib
import time
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from attrs import define, field

from olav_core import tracing
from olav_core.host.implementations import (
    REGISTER_PREFIX,
    Accepted,
    Implementation,
    known_hooks,
    new_host,
    read_implementations,
)
from olav_core.host.plugin import PluginFault, PluginRef, Problem
from olav_core.host.validation import SPEC_TYPES, check_spec

if TYPE_CHECKING:
    import pluggy

#: Seconds that an import may take before a warning tells of it; the built-ins take about 1 ms each.
SLOW_IMPORT = 0.5


@define(eq=False)
class Claim:
    """A spec that a plug-in returned, on its way into the registry."""

    ref: PluginRef
    kind: str
    spec: Any

    @property
    def id(self) -> str:
        return str(self.spec.id)


@define(eq=False)
class Loading:
    """A plug-in while it is being loaded."""

    ref: PluginRef
    disabled: bool = False
    seconds: float = 0.0
    plugin: object = None
    implementations: tuple[Implementation, ...] = ()
    claims: list[Claim] = field(factory=list)
    faults: list[PluginFault] = field(factory=list)
    disabled_ids: list[str] = field(factory=list)
    broken: bool = False

    def fail(self, problems: Iterable[Problem], *, error: BaseException | None = None) -> None:
        """Take the whole plug-in out."""
        self.broken = True
        self.claims.clear()
        self.faults.extend(PluginFault.of(self.ref, problem, error=error) for problem in problems)

    def drop(self, claim: Claim, problem: Problem) -> None:
        """Take one spec out."""
        if claim in self.claims:
            self.claims.remove(claim)
        self.faults.append(PluginFault.of(self.ref, problem, kind=claim.kind, spec_id=claim.spec.id))


def load_all(
    loadings: Iterable[Loading], hooks_wanted: Collection[str] | None = None
) -> tuple[pluggy.PluginManager, dict[str, Loading]]:
    """Load every plug-in that is neither disabled nor broken yet; return the pluggy host and, per plug-in
    name in it, the loading. `hooks_wanted` limits which register hooks are called."""
    host = new_host()
    hooks = known_hooks(host)
    live = [loading for loading in loadings if not loading.disabled and not loading.broken]
    for loading in live:
        _import(loading)
        if loading.broken:
            continue
        try:
            loading.implementations, problems = read_implementations(loading.plugin, host, hooks)
        except Exception as error:
            problems = [Problem(f"its hooks cannot be read: {describe(error)}.", "Mend the plug-in.")]
        if problems:
            loading.fail(problems)
    _refuse_shared_functions(live)
    registered = {}
    for loading in live:
        if not loading.broken:
            host.register(Accepted(loading.implementations), name=loading.ref.key)
            registered[loading.ref.key] = loading
    for hook in hooks:
        if hook.startswith(REGISTER_PREFIX) and (hooks_wanted is None or hook in hooks_wanted):
            # One by one instead of through the hook caller: an exception must not stop the other plug-ins.
            for implementation in getattr(host.hook, hook).get_hookimpls():
                _collect(registered[implementation.plugin_name], hook, implementation.function)
    return host, registered


def describe(error: BaseException) -> str:
    """Return an exception in one line, with the place in the plug-in that raised it."""
    import traceback

    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _of_import_system(f.filename)]
    frames = frames[1:]  # the first is this module's own call
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):
        place = f" ({error.filename}:{error.lineno})"
        return f"SyntaxError: {error.msg}{place}"
    return f"{type(error).__name__}: {error}{place}"


def _of_import_system(filename: str) -> bool:
    return filename.startswith("<frozen") or filename == importlib.__file__


def _import(loading: Loading) -> None:
    start = time.perf_counter()
    try:
        loading.plugin = loading.ref.load()
    except (Exception, SystemExit) as error:
        loading.fail(
            [Problem(f"it cannot be imported: {describe(error)}.", _mend_of(error, loading.ref))], error=error
        )
    finally:
        loading.seconds = time.perf_counter() - start
        tracing.say("import", loading.ref.key, "failed" if loading.broken else "", seconds=loading.seconds)
    if loading.seconds > SLOW_IMPORT and not loading.broken and not loading.ref.builtin:
        slow = Problem(
            f"its import took {loading.seconds:.1f} s, which every `olav` command and every agent waits for.",
            "Import heavy libraries inside factories and functions.",
        )
        loading.faults.append(PluginFault.of(loading.ref, slow, warning=True))


def _mend_of(error: BaseException, ref: PluginRef) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        own = ref.entry_point.partition(":")[0].strip()
        if own == error.name or own.startswith(f"{error.name}."):
            return f"Install {ref.distribution} again, or correct the entry point's module."
        return f"Install the package that brings the module {error.name!r}."
    return f"Mend the module, or switch the plug-in off with OLAV_DISABLE={ref.key}."


def _refuse_shared_functions(loadings: list[Loading]) -> None:
    """Refuse a marked function that one plug-in imports from another, where it is not at home."""
    shown: dict[int, list[tuple[Loading, Implementation]]] = {}
    for loading in loadings:
        for implementation in () if loading.broken else loading.implementations:
            shown.setdefault(id(implementation.function), []).append((loading, implementation))
    for uses in shown.values():
        if len(uses) < 2:
            continue
        for loading, implementation in uses:
            if getattr(loading.plugin, "__name__", None) != implementation.home:
                loading.fail(
                    [
                        Problem(
                            f"{implementation.hook} is imported from {implementation.home}, "
                            "which would register it a second time.",
                            "Define the function here, and import only names that are not marked @hookimpl.",
                        )
                    ]
                )


def _collect(loading: Loading, hook: str, function: Any) -> None:
    if loading.broken:
        return
    kind = hook.removeprefix(REGISTER_PREFIX)
    wanted = SPEC_TYPES[kind]
    start = time.perf_counter()
    try:
        specs = function()
    except (Exception, SystemExit) as error:
        tracing.say("hook", hook, f"{loading.ref.key} raised {describe(error)}")
        problem = Problem(
            f"{hook} raised {describe(error)}.",
            "Mend the hook: it may only build and return specs.",
        )
        loading.fail([problem], error=error)
        return
    spent = time.perf_counter() - start
    if not isinstance(specs, (list, tuple)):
        loading.fail(
            [
                Problem(
                    f"{hook} returned {type(specs).__name__}, not a list.",
                    f"Return a list of {wanted.__name__}, also when it is one or none.",
                )
            ]
        )
        return
    ids = ", ".join(str(getattr(spec, "id", spec)) for spec in specs)
    tracing.say("hook", hook, f"{loading.ref.key} -> {ids or 'nothing'}", seconds=spent)
    for spec in specs:
        if not isinstance(spec, wanted):
            shown = spec.__name__ if isinstance(spec, type) else type(spec).__name__
            problem = Problem(
                f"{hook} returned {shown} where {wanted.__name__} is expected.",
                f"Return instances of {wanted.__name__} only.",
            )
            loading.faults.append(PluginFault.of(loading.ref, problem))
            continue
        claim = Claim(loading.ref, kind, spec)
        problems = check_spec(kind, spec)
        if problems:
            for problem in problems:
                loading.drop(claim, problem)
        else:
            loading.claims.append(claim)
