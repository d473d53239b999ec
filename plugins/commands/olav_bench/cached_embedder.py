"""An embedder whose passage vectors are kept between runs. Queries are always embedded: they are timed."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from olav_bench.vector_cache import VectorCache
from olav_core import Embedder, EmbedderSpec, ModelIdentity, Registry

if TYPE_CHECKING:
    from olav_core import FloatArray

#: Embedded anew by every run: kept vectors of a model that changed behind its name must not be mixed in.
CANARY = "a canary of the vector cache: router R1 / 路由器 R1"
MIN_COSINE = 0.999


class CachedEmbedder:
    """Gives kept vectors where there are some. What else the embedder offers is passed through."""

    def __init__(self, id: str, inner: Embedder, directory: Path) -> None:
        self._id, self._inner, self._directory = id, inner, directory
        self._lock = threading.Lock()
        self._cache: VectorCache | None = None

    @property
    def identity(self) -> ModelIdentity:
        return self._inner.identity

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self._inner.embed_queries(texts)

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        import numpy as np

        cache = self._checked()
        known = cache.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            fresh = dict(
                zip(missing, np.asarray(self._inner.embed_passages(missing), np.float32), strict=True)
            )
            cache.put({text: vector for text, vector in fresh.items() if np.isfinite(vector).all()})
            known |= fresh
        return np.stack([known[text] for text in texts])

    def keep(self, vectors: Mapping[str, FloatArray]) -> None:
        """Take in vectors of this space that a store holds already."""
        self._checked().put(vectors)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _checked(self) -> VectorCache:
        """Return the cache, emptied when the embedder no longer gives the vectors that it gave."""
        import numpy as np

        with self._lock:
            if self._cache is None:
                cache = VectorCache(self._directory, self._id, self.identity)
                now = np.asarray(self._inner.embed_passages([CANARY]), np.float32)[0]
                kept = cache.get([CANARY]).get(CANARY)
                if kept is not None and (kept.shape != now.shape or _cosine(kept, now) < MIN_COSINE):
                    cache.clear()
                cache.put({CANARY: now})
                self._cache = cache
            return self._cache


def with_cache(registry: Registry, embedder: str, directory: Path) -> tuple[Registry, list[CachedEmbedder]]:
    """Return the registry with this embedder's passages kept in `directory`, and without observers: a
    benchmark's recalls are nobody's. The list gets the embedder when it is made."""
    spec = registry.embedder(embedder)
    made: list[CachedEmbedder] = []

    def factory(options: Mapping[str, Any]) -> Embedder:
        made.append(CachedEmbedder(spec.id, spec.factory(options), directory))
        return made[-1]

    cached: EmbedderSpec = evolve(spec, factory=factory)
    embedders = {**registry.embedders, spec.id: cached}
    return evolve(registry, embedders=embedders, written=(), recalled=()), made


def _cosine(left: FloatArray, right: FloatArray) -> float:
    import numpy as np

    return float(left @ right / max(float(np.linalg.norm(left) * np.linalg.norm(right)), 1e-12))
