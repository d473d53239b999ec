"""Category rules: what a workspace's configuration changes in the categories that plug-ins bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import attrs
from attrs import field, frozen

from olav_core.errors import ConfigError, did_you_mean
from olav_core.host.category_checks import check_rules
from olav_core.host.structuring import Range, WrongValueError
from olav_core.specs import CategorySpec, GateUse

if TYPE_CHECKING:
    from olav_core.host.registry import Registry

#: A life in days; the bound keeps dates within what a timestamp can hold.
Days = Annotated[float, Range(0, 1_000_000, above=True)]


class _Unset:
    def __repr__(self) -> str:
        return "as the plug-in says"


#: A category rule that the configuration leaves alone; None would mean "no limit" or "for ever".
UNSET: Final[Any] = _Unset()


@frozen(kw_only=True)
class CategoryRules:
    """What the workspace changes in a category; null lifts a cap or a life, what is not named stays."""

    quota: Annotated[int, Range(0)] = field(default=UNSET)
    cap: Annotated[int, Range(0)] | None = field(default=UNSET)
    gates: tuple[GateUse, ...] = field(default=UNSET)
    ttl_days: Days | None = field(default=UNSET)
    half_life_days: Days | None = field(default=UNSET)

    def apply(self, spec: CategorySpec) -> CategorySpec:
        """Return the category with these rules; they are not checked."""
        changes: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("quota", "cap", "gates")
            if getattr(self, name) is not UNSET
        }
        for name, days in (("ttl", self.ttl_days), ("half_life", self.half_life_days)):
            if days is not UNSET:
                changes[name] = None if days is None else timedelta(days=days)
        return attrs.evolve(spec, **changes)


def apply_rules(
    rules_by_id: Mapping[str, CategoryRules], registry: Registry, source: Path | None
) -> dict[str, CategorySpec]:
    """Return the registry's categories with these rules; `source` is the file that faults are told of.

    Raises ConfigError for an unknown category or gate and for wrong rules, every fault at once.
    """
    categories = dict(registry.categories)
    faults = []
    absent = registry.absent("categories")
    for id, rules in rules_by_id.items():
        path = f"categories.{id}"
        if id not in categories:
            if id not in absent:
                hint = did_you_mean(id, categories)
                faults.append(f"{path}: no category {id!r} is registered.{hint}")
            continue
        spec = rules.apply(categories[id])
        problems = [f"{problem.message} {problem.mend}" for problem in check_rules(spec)]
        if rules.gates is not UNSET:
            unknown = [use.id for use in rules.gates if use.id not in registry.gates]
            problems += [
                f"gate {gate!r} is not registered.{did_you_mean(gate, registry.gates)}" for gate in unknown
            ]
        faults += [f"{path}: {problem}" for problem in problems]
        categories[id] = spec
    if faults:
        where = source or "the settings"
        raise ConfigError(
            f"{where}: {len(faults)} fault(s).\n  " + "\n  ".join(faults) + "\nMend them and try again."
        )
    return categories


def with_thresholds(
    categories: Mapping[str, CategorySpec],
    thresholds: Mapping[str, Mapping[str, float]],
    rules_by_id: Mapping[str, CategoryRules],
) -> dict[str, CategorySpec]:
    """Return the categories with calibrated thresholds, but for those whose rules set gates."""
    own = {id for id, rules in rules_by_id.items() if rules.gates is not UNSET}
    return {
        id: spec if id in own else attrs.evolve(spec, gates=_tuned(spec.gates, thresholds.get(id, {})))
        for id, spec in categories.items()
    }


def gate_use(value: Any, _: Any) -> GateUse:
    """Gates are written flat: `{id: distance, max: 0.65}`, or the bare id when there are no options."""
    if isinstance(value, str):
        return GateUse(value)
    if isinstance(value, Mapping) and isinstance(value.get("id"), str):
        return GateUse(value["id"], {key: item for key, item in value.items() if key != "id"})
    raise WrongValueError("a gate's id, or a mapping with `id` and the gate's options", value)


def _tuned(gates: Sequence[GateUse], thresholds: Mapping[str, float]) -> tuple[GateUse, ...]:
    return tuple(
        GateUse(use.id, {**use.options, "max": thresholds[use.id]}) if use.id in thresholds else use
        for use in gates
    )
