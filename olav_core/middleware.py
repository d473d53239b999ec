"""Agent middleware: what plug-ins registered for a framework, built for one agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from olav_core.errors import ConfigError, UnknownIdError, did_you_mean
from olav_core.records import check_scope

if TYPE_CHECKING:
    from olav_core.memory import Memory


def agent_middleware(
    memory: Memory,
    framework: str,
    *,
    agent: str = "core",
    use: Mapping[str, bool | Mapping[str, Any]] | None = None,
    compiled: bool = False,
) -> list[Any]:
    """Return fresh middleware objects for one agent, outermost first.

    Those that are registered as `default` are in. `use`: id -> True (in), False (out), or the options of its
    factory (in). `compiled`: only those that fit around a graph that is compiled already.

    Raises UnknownIdError for an id that nobody registered, ConfigError for one of another framework, and what
    a factory raises: a wrong option, a missing library. What OLAV_DISABLE switched off is left out.
    """
    agent = check_scope(agent)
    registered = memory.registry.agent_middleware
    chosen = dict(use or {})
    for id, wish in chosen.items():
        if id not in registered and id not in memory.registry.absent("agent_middleware"):
            known = ", ".join(registered) or "none"
            raise UnknownIdError(
                f"there is no agent middleware {id!r}.{did_you_mean(id, registered)} Known: {known}."
            )
        if id in registered and wish is not False and registered[id].framework != framework:
            raise ConfigError(
                f"agent middleware {id!r} is for {registered[id].framework}, not for {framework}. "
                "Leave it out, or name one of this framework: see `olav plugins --long`."
            )
    made = []
    for spec in registered.values():
        wish = chosen.get(spec.id, spec.default)
        fits = spec.framework == framework and (spec.compiled or not compiled)
        if fits and wish is not False:
            options = wish if isinstance(wish, Mapping) else {}
            made.append(spec.factory(memory, agent, **options))
    return made
