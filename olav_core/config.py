"""Configuration: `.olav/config.yaml` and `OLAV_<SECTION>_<KEY>` as frozen settings, every fault at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final

from attrs import field, frozen

from olav_core.category_rules import CategoryRules, apply_rules, gate_use, with_thresholds
from olav_core.chat.settings import ChatSettings, LearningSettings
from olav_core.context.settings import ContextSettings
from olav_core.errors import ConfigError, RecordError
from olav_core.host.structuring import FieldFault, Range, converter, faults_of
from olav_core.recall.tier import Tier
from olav_core.records import check_scope
from olav_core.specs import CategorySpec, GateUse

if TYPE_CHECKING:
    from cattrs import Converter

    from olav_core.host.registry import Registry

#: The chain of a fresh workspace.
DEFAULT_RANKERS: Final = (
    "vector",
    "bm25",
    "translated",
    "identifiers",
    "score_fusion",
    "keyword_boost",
    "maxsim",
    "neighbour",
    "prior",
    "near_duplicate",
)
#: Tokens that the injected block may take, by tier: under 10 % of a window of 8k, 16k and 48k, and room for
#: one passage of a document (up to 600 tokens) in the smallest.
DEFAULT_TOKEN_BUDGET: Final[Mapping[Tier, int]] = MappingProxyType(
    {"small": 750, "medium": 1_200, "large": 3_000}
)
#: Values below these paths may be keys and are never shown.
_SECRET: Final = ("store.storage_options", "embedder.options")


def _with_default_budget(given: Mapping[Tier, int]) -> Mapping[Tier, int]:
    return MappingProxyType({**DEFAULT_TOKEN_BUDGET, **given})


#: A commit takes 12 ms and 0.17 ms more per version that lies about (4 ms at 32, 40 at 256); maintenance of
#: 10,000 rows takes 80 ms, so 2.5 ms per commit.
MAINTAIN_AFTER: Final = 32


@frozen(kw_only=True)
class StoreSettings:
    """Where the table lies. `uri`: any LanceDB URI, None for the workspace's own database.

    `maintain_after`: versions of a table after which maintenance runs by itself, in the background; 0 never.
    """

    uri: str | None = None
    maintain_after: Annotated[int, Range(0)] = MAINTAIN_AFTER
    storage_options: Mapping[str, str] = field(factory=dict, repr=False)  # may hold keys


@frozen(kw_only=True)
class EmbedderSettings:
    """Which embedder makes the vectors, and what its factory gets."""

    id: str = "e5"
    options: Mapping[str, Any] = field(factory=dict, repr=False)  # may hold keys


@frozen(kw_only=True)
class RecallSettings:
    """How memories are found and how many are injected.

    `tier` and `model` say how large the answering model is (`tier` wins). `rankers` lists the ids that take
    part. `token_budget`: tokens of the injected block by tier. `candidates_per_category`: rows of each
    category that reach the gates. `floor`: the share of the best candidate's score below which nothing is
    injected; 0 keeps out only what scores below zero and is not the best. `log`: keep who was shown what in
    `recall_log`. `log_queries`: keep the redacted words of queries too, in `query_log`, for `olav bench mine`
    and `olav replay`.
    """

    tier: Tier | None = None
    model: str | None = None
    rankers: tuple[str, ...] = DEFAULT_RANKERS
    ranker_options: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    token_budget: Mapping[Tier, Annotated[int, Range(1)]] = field(
        factory=dict, converter=_with_default_budget
    )
    resident_rows: Annotated[int, Range(0)] = 200_000
    candidates_per_category: Annotated[int, Range(1)] = 24
    floor: Annotated[float, Range(0, 1)] = 0.0
    log: bool = True
    log_queries: bool = False


@frozen(kw_only=True)
class TierRule:
    """Models whose name matches the regular expression `match` (case is ignored) are of this tier."""

    match: str
    tier: Tier


@frozen(kw_only=True)
class TierSettings:
    """Rules that come before the built-in reading of model names."""

    rules: tuple[TierRule, ...] = ()


def _teams(_: object, __: object, teams: tuple[str, ...]) -> None:
    for team in teams:
        try:
            check_scope(team if team.startswith("team:") else f"team:{team}")
        except RecordError as error:
            raise ValueError(str(error)) from None


@frozen(kw_only=True)
class AgentSettings:
    """One agent: its teams (`ops` or `team:ops`), and the size of its model where it differs."""

    teams: tuple[str, ...] = field(default=(), validator=_teams)
    tier: Tier | None = None
    model: str | None = None


@frozen(kw_only=True)
class CaptureSettings:
    """Which tool calls are captured, and how they wait to be stored.

    `verbs`: a team's own verbs, with their inflections. `deny`: names, or patterns such as `scratch_*`, that
    are never captured. `tools`: true or false by name, before every other rule. A name is a tool's whole name
    or its last part (`push_config` for `netops.push_config`). `scope`: where events go, `agent` for the
    acting agent's own. `durable`: acknowledge only what survives a power cut. `spool_mb`: how much may wait.
    """

    enabled: bool = True
    verbs: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    tools: Mapping[str, bool] = field(factory=dict)
    scope: str = "agent"
    durable: bool = False
    spool_mb: Annotated[int, Range(1)] = 64


@frozen(kw_only=True)
class Settings:
    """The settings of one workspace. `source` is the file that they were read from."""

    store: StoreSettings = field(factory=StoreSettings)
    embedder: EmbedderSettings = field(factory=EmbedderSettings)
    recall: RecallSettings = field(factory=RecallSettings)
    tiers: TierSettings = field(factory=TierSettings)
    agents: Mapping[str, AgentSettings] = field(factory=dict)
    capture: CaptureSettings = field(factory=CaptureSettings)
    chat: ChatSettings = field(factory=ChatSettings)
    context: ContextSettings = field(factory=ContextSettings)
    learning: LearningSettings = field(factory=LearningSettings)
    categories: Mapping[str, CategoryRules] = field(factory=dict)
    source: Path | None = field(default=None, init=False, eq=False)

    @classmethod
    def load(cls, path: Path, environ: Mapping[str, str] | None = None) -> Settings:
        """Read `path` (absent or empty: the defaults), then `OLAV_<SECTION>_<KEY>` from `environ`.

        Raises ConfigError with every fault, each with the path of its field and where it was set.
        """
        from olav_core.config_file import read
        from olav_core.variables import overrides

        values = read(path)
        given, faults = overrides(cls, os.environ if environ is None else environ)
        variables = {".".join(override.path): override.variable for override in given}
        for override in given:
            _set(values, override.path, override.value)
        settings = cls()
        try:
            settings = _settings_converter().structure(values, cls)
        except Exception as error:
            faults += faults_of(error, "")
        faults += _regex_faults(settings)
        if faults:
            lines = "\n".join(f"  {_where(fault, variables)}" for fault in faults)
            raise ConfigError(
                f"{path}: {len(faults)} fault(s) in the settings:\n{lines}\nMend them and try again."
            )
        object.__setattr__(settings, "source", path)  # before anyone else sees it
        return settings

    def apply_to(self, registry: Registry) -> dict[str, CategorySpec]:
        """Return the registry's categories with this configuration's rules, in the registry's order.

        Raises ConfigError for an unknown category or gate, a quota above the cap, or any other wrong rule.
        Rules for a category that is switched off or broken are passed over.
        """
        return apply_rules(self.categories, registry, self.source)

    def with_thresholds(
        self, categories: Mapping[str, CategorySpec], thresholds: Mapping[str, Mapping[str, float]]
    ) -> dict[str, CategorySpec]:
        """Return the categories with calibrated gate thresholds (`max` by category and gate), but for gates
        that this configuration sets itself."""
        return with_thresholds(categories, thresholds, self.categories)

    @staticmethod
    def write_default(path: Path, *, embedder: str = "e5", options: Mapping[str, Any] | None = None) -> None:
        """Write a short commented configuration to `path`; raises ConfigError when there is one already."""
        from olav_core.config_file import write_default

        write_default(path, embedder=embedder, options=options or {})

    @staticmethod
    def save_embedder(path: Path, embedder: str, options: Mapping[str, Any] | None = None) -> None:
        """Make `path` name another embedder, leaving its other lines alone; raises ConfigError."""
        from olav_core.config_file import save_embedder

        save_embedder(path, embedder, options or {})


@lru_cache(maxsize=1)
def _settings_converter() -> Converter:
    strict = converter().copy()
    strict.register_structure_hook(GateUse, gate_use)
    return strict


def _regex_faults(settings: Settings) -> Iterator[FieldFault]:
    for index, rule in enumerate(settings.tiers.rules):
        try:
            re.compile(rule.match)
        except re.error as error:
            yield FieldFault(
                f"tiers.rules[{index}].match", f"{rule.match!r} is no regular expression: {error}"
            )


def _set(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *steps, last = path
    for step in steps:
        if not isinstance(values.get(step), dict):
            values[step] = {}
        values = values[step]
    values[last] = value


def _where(fault: FieldFault, variables: Mapping[str, str]) -> str:
    if fault.path.startswith(_SECRET):
        fault = FieldFault(fault.path, fault.message.partition(", got ")[0])
    for path, variable in variables.items():
        if fault.path == path or fault.path.startswith((f"{path}.", f"{path}[")):
            return f"{variable} ({fault.path}): {fault.message}"
    return str(fault)
