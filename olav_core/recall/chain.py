"""The chain: the rankers and gates of one workspace, built from its configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import ref

from attrs import frozen

from olav_core.errors import ConfigError, OlavError, did_you_mean
from olav_core.recall.gate_rounds import GateRounds, gate_rounds
from olav_core.specs import (
    Booster,
    CategorySpec,
    Diversifier,
    Fuser,
    Gate,
    GateUse,
    RankerSpec,
    Reranker,
    Retriever,
)

if TYPE_CHECKING:
    from olav_core.config import Settings
    from olav_core.host.registry import Registry


@frozen(kw_only=True)
class Chain:
    """Built stages by ranker id, in running order, and each category's gates by gate id: quick ones decide
    without the record."""

    legs: Mapping[str, Retriever]
    fuser: Fuser
    boosters: Mapping[str, Booster]
    rerankers: Mapping[str, Reranker]
    reranker_specs: Mapping[str, RankerSpec]
    diversifiers: Mapping[str, Diversifier]
    quick_gates: Mapping[str, Mapping[str, Gate]]
    record_gates: Mapping[str, Mapping[str, Gate]]

    @cached_property
    def quick_rounds(self) -> GateRounds:
        """The quick gates in the order in which they are asked."""
        return gate_rounds(self.quick_gates)

    @cached_property
    def record_rounds(self) -> GateRounds:
        """The other gates in the order in which they are asked."""
        return gate_rounds(self.record_gates)

    @cached_property
    def record_gated(self) -> frozenset[str]:
        """The categories with a gate that needs the record."""
        return frozenset(category for category, gates in self.record_gates.items() if gates)

    @property
    def depth(self) -> int:
        """How many of the best candidates, of whatever category, the rerankers see at most; 0 without any."""
        return max((spec.depth for spec in self.reranker_specs.values()), default=0)


def build_chain(registry: Registry, settings: Settings, categories: Mapping[str, CategorySpec]) -> Chain:
    """Build the rankers that `recall.rankers` names and the gates that `categories` ask for.

    Raises UnknownIdError for an id that nothing registered and ConfigError when the chain lacks a leg or
    does not have exactly one fuser.
    """
    for name in settings.recall.ranker_options:
        if name not in registry.absent("rankers"):
            registry.ranker(name)
    known = {spec.id: spec for spec in (registry.ranker(name) for name in settings.recall.rankers)}
    # The registry keeps rankers in running order: stage, priority, distribution, id.
    specs = [spec for spec in registry.rankers.values() if spec.id in known]
    fusers = [spec for spec in specs if spec.stage == "fuse"]
    if len(fusers) != 1 or not any(spec.stage == "retrieve" for spec in specs):
        raise ConfigError(
            f"recall.rankers is {', '.join(settings.recall.rankers) or 'empty'}: it needs at least one "
            "ranker of stage retrieve and exactly one of stage fuse, as vector, bm25 and score_fusion are."
        )

    def built(stage: str) -> dict[str, object]:
        return {spec.id: _build(spec, settings) for spec in specs if spec.stage == stage}

    made: list[tuple[str, Mapping[str, Any], Gate]] = []

    def gate(use: GateUse, category: str) -> Gate:
        """Categories that use a gate alike share it, so that it judges their candidates in one call."""
        for name, options, known in made:
            if name == use.id and options == use.options:
                return known
        built: Gate = _made(registry.gate(use.id).factory, use.options, f"gate {use.id!r} of {category}")
        made.append((use.id, use.options, built))
        return built

    def gates(*, need_record: bool) -> dict[str, dict[str, Gate]]:
        return {
            spec.id: {
                use.id: gate(use, spec.id)
                for use in spec.gates
                if registry.gate(use.id).needs_record is need_record
            }
            for spec in categories.values()
        }

    return Chain(
        legs=built("retrieve"),  # type: ignore[arg-type]
        fuser=_build(fusers[0], settings),  # type: ignore[arg-type]
        boosters=built("boost"),  # type: ignore[arg-type]
        rerankers=built("rerank"),  # type: ignore[arg-type]
        reranker_specs={spec.id: spec for spec in specs if spec.stage == "rerank"},
        diversifiers=built("diversify"),  # type: ignore[arg-type]
        quick_gates=gates(need_record=False),
        record_gates=gates(need_record=True),
    )


def _build(spec: RankerSpec, settings: Settings) -> object:
    return _made(spec.factory, settings.recall.ranker_options.get(spec.id, {}), f"ranker {spec.id!r}")


def _made(factory: Callable[[Any], Any], options: Mapping[str, Any], what: str) -> Any:
    given = _Given(options)
    known, kept = given.known, ref(given)
    try:
        if _holds_nan(options):
            raise ValueError("one of them is not a number")
        made = factory(given)
    except OlavError:
        raise
    except Exception as error:
        raise ConfigError(
            f"{what} does not take its options {dict(options)!r}: {error}. Mend them in .olav/config.yaml."
        ) from error
    del given
    unread = sorted(set(options) - known) if kept() is None else []  # who keeps them may read them later
    if unread:
        raise ConfigError(
            f"{what} does not take its options {dict(options)!r}: it has no option {unread[0]!r}."
            f"{did_you_mean(unread[0], known)} Mend them in .olav/config.yaml."
        )
    return made


class _Given(Mapping[str, Any]):
    """Options, and in `known` the names that a factory asked for: one that it never asks for is a slip."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self.known: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.known.add(name)
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        self.known.update(self._options)
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)


def _holds_nan(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_nan, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_holds_nan, value))
    return isinstance(value, float) and value != value
