"""The configuration of a run: embedder, chain of rankers, tiers, and the settings that they come from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from olav_core import OlavError, Registry, Settings

_SECRET = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)


@frozen(kw_only=True)
class Configuration:
    """What one run measures. `rankers` empty: the chain of `settings`. `label` names it beside others.
    `depth`: how deep rankings are kept. `timed`: the tier whose recall is timed, embedding included."""

    embedder: str = "e5"
    embedder_options: Mapping[str, Any] = field(factory=dict)
    rankers: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ("small", "medium", "large")
    category: str | None = None
    depth: int = 20
    settings: Settings = field(factory=Settings)
    label: str = ""

    @property
    def name(self) -> str:
        return self.label or "+".join((self.embedder, *self.rankers))

    @property
    def timed(self) -> str:
        return "large" if "large" in self.tiers or not self.tiers else self.tiers[-1]

    def applied(self) -> Settings:
        """Return the settings of a store of one's own: nothing is logged, nothing is maintained."""
        recall = evolve(self.settings.recall, log=False, log_queries=False)
        if self.rankers:
            recall = evolve(recall, rankers=self.rankers)
        return evolve(
            self.settings,
            embedder=evolve(self.settings.embedder, id=self.embedder, options=self.embedder_options),
            store=evolve(self.settings.store, uri=None, storage_options={}, maintain_after=0),
            recall=recall,
        )


def settings_from(path: Path | None, changes: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """Return the settings of a file (None: the defaults) with `KEY.PATH=VALUE` changes, values as YAML.

    Raises OlavError for a change that is none, ConfigError for a setting that there is not.
    """
    if path is not None and not path.is_file():
        raise OlavError(f"There is no settings file {path}. Give a config.yaml, or leave --settings out.")
    variables = dict(environ)
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or "." not in key:
            raise OlavError(
                f"--set {change!r} changes nothing. Write KEY.PATH=VALUE, such as recall.floor=0.2 or "
                "categories.reflection.gates=[]."
            )
        # an empty variable would count as unset
        variables["OLAV_" + key.strip().replace(".", "__").upper()] = value.strip() or "''"
    return Settings.load(path or Path("no-settings-file"), variables)


def chains(
    values: Sequence[str], base: Sequence[str], registry: Registry
) -> list[tuple[str, tuple[str, ...]]]:
    """Return (label, chain) for every configuration that `--ranker` asks for; ("", ()) for none.

    A comma list with one fuser and at least one leg is a chain. Otherwise each of its ids is a change of
    `base`: a fuser takes the place of the fuser, another ranker is added, `-id` is left out, `default` is
    `base` itself. Raises UnknownIdError.
    """
    found: list[tuple[str, tuple[str, ...]]] = []
    for value in values:
        ids = [word.strip() for word in value.split(",") if word.strip()]
        stages = [registry.ranker(id.lstrip("-")).stage for id in ids if id != "default"]
        if stages.count("fuse") == 1 and "retrieve" in stages and len(stages) == len(ids):
            found.append(("+".join(ids), tuple(ids)))
        else:
            found += [(id, _changed(id, base, registry)) for id in ids]
    return found or [("", ())]


def _changed(id: str, base: Sequence[str], registry: Registry) -> tuple[str, ...]:
    if id == "default":
        return tuple(base)
    if id.startswith("-"):
        return tuple(name for name in base if name != id[1:])
    fuses = registry.ranker(id).stage == "fuse"
    kept = [name for name in base if name != id and not (fuses and registry.ranker(name).stage == "fuse")]
    return (*kept, id)


def described(configuration: Configuration, registry: Registry) -> dict[str, Any]:
    """Return the whole configuration as JSON values: rankers, gates, quotas and budgets as they were in
    force. Options that look like secrets are masked."""
    settings = configuration.applied()
    recall = settings.recall
    categories = settings.apply_to(registry)
    return {
        "name": configuration.name,
        "embedder": configuration.embedder,
        "embedder_options": masked(configuration.embedder_options),
        "rankers": list(recall.rankers),
        "ranker_options": masked(recall.ranker_options),
        "tiers": list(configuration.tiers),
        "category": configuration.category,
        "depth": configuration.depth,
        "floor": recall.floor,
        "candidates_per_category": recall.candidates_per_category,
        "token_budget": dict(recall.token_budget),
        "categories": {
            spec.id: {
                "quota": spec.quota,
                "cap": spec.cap,
                "gates": [{"id": use.id, **use.options} for use in spec.gates],
                "boosts": list(spec.boosts),
                "recallable": spec.recallable,
            }
            for spec in categories.values()
        },
    }


def masked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy in which the values of keys that name secrets are `***`."""
    return {
        key: masked(value)
        if isinstance(value, Mapping)
        else "***"
        if _SECRET.search(key) and value
        else value
        for key, value in options.items()
    }
