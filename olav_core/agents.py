"""Agents: the scopes that one recalls from, and the tier of the model that answers for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from olav_core.errors import ConfigError, RecordError
from olav_core.recall.tier import DEFAULT_TIER, Tier, check_tier, tier_of_model
from olav_core.records import GLOBAL_SCOPE, check_scope

if TYPE_CHECKING:
    from olav_core.config import Settings

DEFAULT_AGENT = "core"


def scopes_of(agent: str, settings: Settings) -> tuple[str, ...]:
    """Return the scopes that `agent` recalls from: its own, its teams' and "global". Raises RecordError."""
    own = settings.agents.get(agent)
    teams = own.teams if own is not None else ()
    named = (team if team.startswith("team:") else f"team:{team}" for team in teams)
    return tuple(dict.fromkeys((check_scope(agent), *named, GLOBAL_SCOPE)))


def check_scopes(scopes: Sequence[str]) -> tuple[str, ...]:
    """Return a caller's own choice of scopes, each once, or raise RecordError."""
    if isinstance(scopes, str):  # its characters would be taken for scopes, and nothing found
        raise RecordError(f"scopes must be a list of scopes, not the string {scopes!r}. Pass [{scopes!r}].")
    if not isinstance(scopes, Iterable):
        raise RecordError(f"scopes must be a list of scopes, not {scopes!r}.")
    return tuple(dict.fromkeys(check_scope(scope) for scope in scopes))


def tier_of(agent: str, settings: Settings, *, tier: str | None = None, model: str | None = None) -> Tier:
    """Return the tier of one call: `tier`, else that of `model`, else the agent's, else the workspace's.

    Raises ConfigError for a name that is no tier.
    """
    rules = [(rule.match, check_tier(rule.tier)) for rule in settings.tiers.rules]
    if tier is not None:
        return check_tier(tier)
    if model is not None:
        if not isinstance(model, str):
            raise ConfigError(f"model must be the model's name, not {model!r}.")
        return tier_of_model(model, rules)
    for source in (settings.agents.get(agent), settings.recall):
        if source is not None and source.tier is not None:
            return check_tier(source.tier)
        if source is not None and source.model is not None:
            return tier_of_model(source.model, rules)
    return DEFAULT_TIER
