"""The embedder that a workspace's configuration names, with options that hang on the workspace placed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olav_core.embedding.handle import EmbedderHandle

if TYPE_CHECKING:
    from olav_core.host.registry import Registry
    from olav_core.specs import Options


def configured_embedder(
    registry: Registry, root: Path, id: str, options: Mapping[str, Any]
) -> EmbedderHandle:
    """Return the handle of an embedder in the workspace at `root`; raises UnknownIdError. Whether its options
    are sound shows at first use."""
    spec = registry.embedder(id)
    place = spec.place
    if place is None:
        return EmbedderHandle(spec, options)

    def placed(given: Options) -> Options:
        return place(given, root.resolve(), registry)

    return EmbedderHandle(spec, options, place=placed)
