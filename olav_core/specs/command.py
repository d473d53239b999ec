"""A command of `olav` that a distribution adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    import click


@frozen(kw_only=True)
class CommandSpec:
    """A click command for `olav`. `load()` imports and returns it, so that `olav --help` stays cheap."""

    id: str
    help: str
    load: Callable[[], click.Command]
