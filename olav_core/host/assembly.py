"""Assembly: from found plug-ins to one registry. Settles names, switches, conflicts, references and order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs

from olav_core import tracing
from olav_core.errors import did_you_mean
from olav_core.host.discovery import find_refs, given_refs, may_implement
from olav_core.host.implementations import REGISTER_PREFIX
from olav_core.host.loading import Claim, Loading, load_all
from olav_core.host.plugin import PluginFault, PluginInfo, Problem
from olav_core.host.registry import Registry
from olav_core.host.validation import SPEC_TYPES, check_references
from olav_core.specs import STAGES


def assemble(
    given: tuple[object, ...] | None,
    *,
    plugin_dir: Path | None,
    disabled: frozenset[str],
    kinds: tuple[str, ...] | None,
) -> Registry:
    """Return the registry with all its faults; nothing is raised and nothing is logged."""
    hooks = None if kinds is None else frozenset(f"{REGISTER_PREFIX}{kind}" for kind in kinds)
    refs = find_refs(plugin_dir) if given is None else given_refs(given)
    loadings = [Loading(ref, disabled=ref.name in disabled or ref.key in disabled) for ref in refs]
    _settle_names(loadings)
    if hooks is not None:
        loadings = [
            item for item in loadings if item.disabled or item.broken or may_implement(item.ref, hooks)
        ]
    host, registered = load_all(loadings, hooks)
    for loading in loadings:
        _switch_off(loading, disabled)
    for kind in SPEC_TYPES:
        _settle(loadings, kind, lambda claim: (claim.id,), "the id")
    _settle(loadings, "importers", _suffixes, "the suffix")
    _settle(loadings, "importers", _drafted, "the draft_file of category")
    faults: list[PluginFault] = []
    if kinds is None:
        _check_references(loadings, disabled)
        faults = _unused_switches(loadings, disabled)
    faults = [fault for loading in loadings for fault in loading.faults] + faults
    specs = {kind: _in_order(loadings, kind) for kind in SPEC_TYPES}
    for kind, mapping in specs.items():
        tracing.say("specs", kind, ", ".join(mapping) or "none")
    for fault in faults:
        tracing.say("fault", fault.plugin, str(fault))
    return Registry(
        **specs,
        plugins=tuple(_info(loading) for loading in loadings),
        faults=tuple(faults),
        written=_observers(host, registered, "olav_memory_written"),
        recalled=_observers(host, registered, "olav_memories_recalled"),
    )


def _settle_names(loadings: list[Loading]) -> None:
    """One entry-point name, one plug-in: OLAV_DISABLE and messages speak of plug-ins by it."""
    for name, same in _grouped((item.ref.name, item) for item in loadings if not item.disabled).items():
        for loading, others in _losers(same, lambda item: item.ref.builtin):
            who = "; ".join(dict.fromkeys(other.ref.label for other in others))
            loading.fail(
                [
                    Problem(
                        f"the entry-point name {name!r} is taken: {who}.",
                        "Rename one, uninstall one, or switch one off with "
                        f"OLAV_DISABLE={' or '.join(dict.fromkeys(item.ref.key for item in same))}.",
                    )
                ]
            )


def _switch_off(loading: Loading, disabled: frozenset[str]) -> None:
    for claim in list(loading.claims):
        if claim.id in disabled:
            loading.claims.remove(claim)
            loading.disabled_ids.append(claim.id)


def _settle(loadings: list[Loading], kind: str, keys: Callable[[Claim], tuple[str, ...]], what: str) -> None:
    """One key, one spec: a built-in keeps a key that strangers claim too; among equals nobody gets it."""
    claims = [
        (key, (loading, claim))
        for loading in loadings
        for claim in loading.claims
        if claim.kind == kind
        for key in keys(claim)
    ]
    for key, same in _grouped(claims).items():
        for (loading, claim), others in _losers(same, lambda item: item[0].ref.builtin):
            who = "; ".join(dict.fromkeys(other.ref.label for other, _ in others))
            again = all(other is loading for other, _ in others)
            taken = "registered twice here" if again else f"registered by others too: {who}"
            problem = Problem(
                f"{what} {key!r} is {taken}.",
                "Rename one, or uninstall one, or switch one plug-in off with "
                f"OLAV_DISABLE={' or '.join(dict.fromkeys(item.ref.key for item, _ in same))}.",
            )
            loading.drop(claim, problem)


def _suffixes(claim: Claim) -> tuple[str, ...]:
    return tuple(dict.fromkeys(suffix.casefold() for suffix in claim.spec.suffixes))


def _drafted(claim: Claim) -> tuple[str, ...]:
    return () if claim.spec.draft_file is None else (claim.spec.category,)


def _check_references(loadings: list[Loading], disabled: frozenset[str]) -> None:
    claims = [claim for loading in loadings for claim in loading.claims]
    gates = {claim.id for claim in claims if claim.kind == "gates"}
    boosts = {claim.id for claim in claims if claim.kind == "rankers" and claim.spec.stage == "boost"}
    off = [loading.ref.name for loading in loadings if loading.disabled]
    off += [id for loading in loadings for id in loading.disabled_ids]
    for loading in loadings:
        for claim in [c for c in loading.claims if c.kind == "categories"]:
            for missing, problem in check_references(claim.spec, gates, boosts):
                if off:  # the operator's wish: the category works on without what was switched off
                    claim.spec = attrs.evolve(
                        claim.spec,
                        gates=tuple(use for use in claim.spec.gates if use.id != missing),
                        boosts=tuple(boost for boost in claim.spec.boosts if boost != missing),
                    )
                    note = Problem(
                        f"it goes without {missing!r}, which is not there.",
                        f"Switched off: {', '.join(off)}.",
                    )
                    loading.faults.append(
                        PluginFault.of(loading.ref, note, kind=claim.kind, spec_id=claim.id, warning=True)
                    )
                else:
                    loading.drop(claim, problem)
    categories = {claim.id for loading in loadings for claim in loading.claims if claim.kind == "categories"}
    for loading in loadings:
        for claim in [
            c for c in loading.claims if c.kind == "importers" and c.spec.category not in categories
        ]:
            category = claim.spec.category
            if category in off:
                loading.claims.remove(claim)
                loading.disabled_ids.append(claim.id)
                continue
            loading.drop(
                claim,
                Problem(
                    f"its category {category!r} is not registered.{did_you_mean(category, categories)}",
                    "Mend the name, or install the plug-in that brings the category.",
                ),
            )


def _unused_switches(loadings: list[Loading], disabled: frozenset[str]) -> list[PluginFault]:
    used = {id for loading in loadings for id in loading.disabled_ids}
    used |= {name for item in loadings if item.disabled for name in (item.ref.name, item.ref.key)}
    known = {loading.ref.name for loading in loadings} | {c.id for item in loadings for c in item.claims}
    return [
        PluginFault(
            plugin="OLAV_DISABLE",
            distribution="",
            version="",
            entry_point="",
            message=f"nothing is called {name!r}.{did_you_mean(name, known)}",
            mend="Take it out of OLAV_DISABLE, or mend it.",
            warning=True,
        )
        for name in sorted(disabled - used)
    ]


def _in_order(loadings: list[Loading], kind: str) -> MappingProxyType[str, Any]:
    def rank(claim: Claim) -> tuple[int, int, str, str]:
        stage = STAGES.index(claim.spec.stage) if kind == "rankers" else 0
        return stage, getattr(claim.spec, "priority", 0), claim.ref.distribution, claim.id

    claims = [claim for loading in loadings for claim in loading.claims if claim.kind == kind]
    return MappingProxyType({claim.id: claim.spec for claim in sorted(claims, key=rank)})


def _info(loading: Loading) -> PluginInfo:
    ref = loading.ref
    ids = {
        kind: tuple(sorted(claim.id for claim in loading.claims if claim.kind == kind))
        for kind in SPEC_TYPES
        if any(claim.kind == kind for claim in loading.claims)
    }
    errors = [fault for fault in loading.faults if not fault.warning]
    observes = any(not item.hook.startswith(REGISTER_PREFIX) for item in loading.implementations)
    broken = loading.broken or bool(errors and not ids and not observes)
    return PluginInfo(
        name=ref.name,
        distribution=ref.distribution,
        version=ref.version,
        entry_point=ref.entry_point,
        file=ref.file or _file_of(loading.plugin),
        state="disabled" if loading.disabled else "broken" if broken else "loaded",
        hooks=() if broken else tuple(item.hook for item in loading.implementations),
        ids=MappingProxyType(ids),
        disabled_ids=tuple(loading.disabled_ids),
        seconds=loading.seconds,
        faults=tuple(loading.faults),
    )


def _file_of(plugin: object) -> Path | None:
    file = getattr(plugin, "__file__", None)
    return Path(file) if isinstance(file, str) else None


def _observers(
    host: Any, registered: dict[str, Loading], hook: str
) -> tuple[tuple[str, Callable[..., Any]], ...]:
    found = {}
    for implementation in getattr(host.hook, hook).get_hookimpls():
        loading = registered[implementation.plugin_name]
        if not loading.broken:
            call = implementation.function
            if not implementation.argnames:
                call = _without_argument(call)
            found[loading.ref.key] = (loading.ref.label, call)
    return tuple(found[key] for key in sorted(found))


def _without_argument(function: Callable[[], Any]) -> Callable[[object], Any]:
    return lambda _: function()


def _grouped(pairs: Iterable[tuple[str, Any]]) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _losers(same: list[Any], builtin: Callable[[Any], bool]) -> list[tuple[Any, list[Any]]]:
    """Return who is kept out of a name that several claim, each with the other claimants.

    Neither the first nor the last wins, that would hang on load order: a single built-in keeps the name, and
    without one nobody gets it.
    """
    if len(same) < 2:
        return []
    kept = [item for item in same if builtin(item)]
    out = [item for item in same if not builtin(item)] if len(kept) == 1 else same
    return [(item, [other for other in same if other is not item]) for item in out]
