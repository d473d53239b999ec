"""A plug-in's hook implementations, read and checked before anything of it is registered."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from types import ModuleType
from typing import Any

import pluggy
from attrs import frozen

from olav_core import hookspecs
from olav_core.errors import did_you_mean
from olav_core.host.plugin import Problem

REGISTER_PREFIX = "olav_register_"
_ONE_MARK = "Mark each with `@hookimpl` from olav_core (`from olav_core import hookimpl`)."


def new_host() -> pluggy.PluginManager:
    """Return a pluggy manager that knows OLAV's hooks and no plug-in."""
    host = pluggy.PluginManager(hookspecs.PROJECT)
    host.add_hookspecs(hookspecs)
    return host


def known_hooks(host: pluggy.PluginManager) -> dict[str, tuple[str, ...]]:
    """Return each hook's name and argument names, in the order of the hookspecs module."""
    return {
        name: tuple(inspect.signature(value).parameters)
        for name, value in vars(hookspecs).items()
        if host.parse_hookspec_opts(hookspecs, name) is not None
    }


@frozen
class Implementation:
    """One hook implementation: the hook's name and the function as found (bound, if it is a method)."""

    hook: str
    function: Callable[..., Any]

    @property
    def home(self) -> str:
        """The module that defines the function; empty when it does not say."""
        return getattr(self.function, "__module__", None) or ""


class Accepted:
    """What is handed to pluggy: only checked functions, compared by identity.

    The plug-in object itself is never registered: pluggy compares plug-ins with `==`, and a failed
    registration of some versions leaves half of the plug-in behind.
    """

    def __init__(self, implementations: tuple[Implementation, ...]) -> None:
        for implementation in implementations:
            setattr(self, implementation.hook, implementation.function)

    def __dir__(self) -> list[str]:  # else pluggy looks at what every object has, for each plug-in
        return list(vars(self))


def read_implementations(
    plugin: object, host: pluggy.PluginManager, hooks: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Implementation, ...], list[Problem]]:
    """Return the plug-in's implementations and every problem that keeps it from being registered."""
    problem = _not_a_plugin(plugin)
    if problem:
        return (), [problem]
    found: list[Implementation] = []
    problems: list[Problem] = []
    for name in _names(plugin, hooks):
        options = host.parse_hookimpl_opts(plugin, name)
        if options is None:
            if name in hooks and callable(getattr(plugin, name, None)):
                problems.append(Problem(f"function {name} lacks its mark, so it is never called.", _ONE_MARK))
            continue
        hook = options.get("specname") or name
        implementation = Implementation(hook, getattr(plugin, name))
        if hook not in hooks:
            if not options.get("optionalhook"):
                problems.append(
                    Problem(f"there is no hook {hook}.{did_you_mean(hook, hooks)}", "Rename the function.")
                )
            continue
        if any(other.hook == hook for other in found):
            problems.append(
                Problem(f"{hook} is implemented twice (specname).", "Keep one function and return all specs.")
            )
            continue
        wrong = list(_signature_problems(implementation, hooks[hook]))
        if options.get("wrapper") or options.get("hookwrapper"):
            wrong.append(Problem(f"{hook} is a wrapper; there is nothing to wrap.", "Drop `wrapper=True`."))
        if isinstance(plugin, ModuleType) and _foreign(implementation, plugin):
            wrong.append(
                Problem(
                    f"{hook} is imported from {implementation.home}, which would register it a second time.",
                    "Define the function here, and import only names that are not marked @hookimpl.",
                )
            )
        problems.extend(wrong)
        found.append(implementation)
    if not found and not problems:
        problems.append(Problem("it implements no hook, so it brings nothing.", _ONE_MARK))
    return tuple(found), problems


def _names(plugin: object, hooks: Container[str]) -> list[str]:
    """What may be an implementation; of a module only functions, since a look at all that it imports took
    half of the time of a registry."""
    if not isinstance(plugin, ModuleType):
        return dir(plugin)
    return sorted(
        name
        for name, value in vars(plugin).items()
        if name in hooks or (callable(value) and not inspect.isclass(value))
    )


def _not_a_plugin(plugin: object) -> Problem | None:
    if inspect.isclass(plugin):
        return Problem(
            f"it names the class {plugin.__name__}.",
            "Name the module that holds plain functions, or an instance of the class.",
        )
    if plugin is None or inspect.isroutine(plugin):
        name = getattr(plugin, "__name__", "None")
        return Problem(f"it names {name}, which is not a module.", "Name the module that holds the function.")
    return None


def _foreign(implementation: Implementation, module: ModuleType) -> bool:
    home = implementation.home
    return bool(home) and home.partition(".")[0] != module.__name__.partition(".")[0]


def _signature_problems(implementation: Implementation, allowed: tuple[str, ...]) -> list[Problem]:
    hook, function = implementation.hook, implementation.function
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return [Problem(f"{hook} is async; hooks are called plainly.", "Make it `def`.")]
    takes = f"{hook}({', '.join(allowed)})"
    problems = []
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            problems.append(Problem(f"{hook} takes *{name}.", f"Write it as `def {takes}`."))
        elif parameter.kind is parameter.KEYWORD_ONLY:
            problems.append(Problem(f"{hook} has the keyword-only {name}.", f"Write it as `def {takes}`."))
        elif name not in allowed:
            known = did_you_mean(name, allowed) if allowed else " It takes no argument."
            problems.append(
                Problem(f"{hook} has no argument {name!r}.{known}", f"Write it as `def {takes}`.")
            )
        elif parameter.default is not parameter.empty:
            problems.append(Problem(f"{hook} gives {name} a default.", f"Write it as `def {takes}`."))
    return problems
