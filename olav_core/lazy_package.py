"""The public names of a package whose modules load when they are asked for, so that importing it is cheap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], *, needs: Mapping[str, str] = MappingProxyType({})
) -> Callable[[str], Any]:
    """Return the `__getattr__` of `package`: `__getattr__ = lazy_names(__name__, {"Name": "module"})`.

    `homes`: public name -> the module of the package that defines it. `needs`: library that such a module
    imports -> what to install when it is not there, such as `{"langchain": "olav-core[langchain]"}`. Where
    it is missing, asking for the name raises ModuleNotFoundError that says so.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = f"{package}.{homes[name]}"
        try:
            value = getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            requirement = needs.get((error.name or "").partition(".")[0])
            if requirement is None:
                raise
            raise ModuleNotFoundError(
                f"{package}.{name} needs the module {error.name!r}. Install it: pip install '{requirement}'.",
                name=error.name,
            ) from error
        vars(import_module(package))[name] = value  # the next access finds it without asking here
        return value

    return load
