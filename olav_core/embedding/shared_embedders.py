"""Embedders that a process has loaded: workspaces with one spec and options share one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from olav_core.errors import ConfigError, OlavError
from olav_core.specs import Embedder, EmbedderSpec, Options

_SHARED: WeakValueDictionary[tuple[str, Callable[[Options], Embedder], str], Embedder] = WeakValueDictionary()
_LOCK = threading.Lock()


def shared_embedder(spec: EmbedderSpec, options: Mapping[str, Any]) -> Embedder:
    """Return the process's embedder of this spec and these options, making it when it is the first.

    Raises ConfigError for options that it does not take.
    """
    key = (spec.id, spec.factory, json.dumps(options, sort_keys=True, default=repr))
    with _LOCK:
        known = _SHARED.get(key)
        if known is None:
            try:
                known = spec.factory(options)
            except OlavError:
                raise
            except Exception as error:
                raise ConfigError(
                    f"embedder '{spec.id}' does not take its options: {error}. "
                    "Check `embedder.options` in .olav/config.yaml."
                ) from error
            with suppress(TypeError):  # an object with __slots__ may take no weak reference
                _SHARED[key] = known
        return known
