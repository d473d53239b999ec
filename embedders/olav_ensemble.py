"""Embedder `ensemble`: two or more models' vectors, weighted and laid end to end, as one vector."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core import (
    ConfigError,
    Embedder,
    EmbedderSpec,
    ModelIdentity,
    Options,
    Registry,
    build_registry,
    hookimpl,
)

if TYPE_CHECKING:
    from olav_core import FloatArray

#: Without options: the default model, and one that is strong across languages (docs/quality.md).
PARTS = ({"id": "e5"}, {"id": "use", "weight": 0.7})


@frozen(kw_only=True)
class Part:
    """One model of an ensemble; its cosine counts with the square of `weight`. `spec`: its embedder, where a
    workspace's registry said it."""

    id: str
    weight: float = 1.0
    options: Mapping[str, Any] = {}
    spec: EmbedderSpec | None = None


class EnsembleEmbedder:
    """Option `parts`: a list of {id, weight, options}, or the same as YAML text.

    The cosine of two texts is the mean of the models' cosines, weighted by the squares of the weights. Token
    vectors are those of the first model that has any.
    """

    def __init__(self, options: Options) -> None:
        self.parts = _parts(options.get("parts", PARTS))
        self._lock = threading.Lock()
        self._made: list[Embedder] | None = None

    @property
    def identity(self) -> ModelIdentity:
        of_parts = [
            [
                part.weight,
                *map(str, (own.name, own.revision, own.pooling, own.query_prefix, own.passage_prefix)),
            ]
            for part, own in zip(self.parts, (each.identity for each in self._embedders()), strict=True)
        ]
        name = "+".join(f"{part.id}*{part.weight:g}" for part in self.parts)
        revision = hashlib.sha256(json.dumps(of_parts).encode()).hexdigest()
        return ModelIdentity(name=f"ensemble({name})", revision=revision, pooling="concatenation")

    def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self._joined([each.embed_queries(texts) for each in self._embedders()])

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return self._joined([each.embed_passages(texts) for each in self._embedders()])

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        return self._with_tokens("embed_queries", texts)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        return self._with_tokens("embed_passages", texts)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[FloatArray]:
        embed: Any = self._embedders()[self._capable()]
        found: list[FloatArray] = embed.token_vectors(texts, query=query)
        return found

    def _with_tokens(self, method: str, texts: Sequence[str]) -> tuple[FloatArray, list[FloatArray]]:
        """Return the joined vectors and one model's token vectors, of one run where that model can."""
        capable = self._capable()
        vectors, tokens = [], None
        for place, each in enumerate(self._embedders()):
            both = getattr(each, f"{method}_with_tokens", None) if place == capable else None
            if both is not None:
                own, tokens = both(texts)
            else:
                own = getattr(each, method)(texts)
            vectors.append(own)
        if tokens is None:
            tokens = self.token_vectors(texts, query=method == "embed_queries")
        return self._joined(vectors), tokens

    def _capable(self) -> int:
        """Return the place of the first model that has token vectors."""
        for place, each in enumerate(self._embedders()):
            if hasattr(each, "token_vectors"):
                return place
        raise ConfigError(
            f"none of {', '.join(part.id for part in self.parts)} has token vectors. Take the ranker that "
            "asks for them out of recall.rankers."
        )

    def _joined(self, vectors: Sequence[FloatArray]) -> FloatArray:
        import numpy as np

        norms = [np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in vectors]
        weighted = zip(self.parts, vectors, norms, strict=True)
        joined = np.hstack([part.weight * rows / norm for part, rows, norm in weighted])
        scale = sum(part.weight**2 for part in self.parts) ** 0.5
        return np.asarray(joined / scale, np.float32)

    def _embedders(self) -> list[Embedder]:
        with self._lock:
            if self._made is None:
                specs = [part.spec or build_registry().embedder(part.id) for part in self.parts]
                self._made = [
                    spec.factory(part.options) for spec, part in zip(specs, self.parts, strict=True)
                ]
            return self._made


def _parts(given: Any) -> tuple[Part, ...]:
    example = "Give a list such as [{id: e5}, {id: use, weight: 0.7}]."
    import yaml

    try:
        # `--option parts=…` of the command line brings text
        listed = yaml.safe_load(given) if isinstance(given, str) else given
        parts = tuple(Part(**each) for each in listed)
    except (TypeError, yaml.YAMLError) as error:
        raise ConfigError(f"embedder 'ensemble' cannot read `parts`: {error}. {example}") from error
    if len(parts) < 2 or any(part.id == "ensemble" for part in parts):
        raise ConfigError(f"embedder 'ensemble' needs two or more models, none an ensemble. {example}")
    for part in parts:
        if part.spec is not None and not isinstance(part.spec, EmbedderSpec):
            raise ConfigError(f"embedder 'ensemble': a part takes id, weight and options. {example}")
        if (
            isinstance(part.weight, bool)
            or not isinstance(part.weight, (int, float))
            or not 0 < part.weight < 100
        ):
            raise ConfigError(
                f"embedder 'ensemble': weight of {part.id} is {part.weight!r}. Give one above 0."
            )
    return parts


def place(options: Options, root: Path, registry: Registry) -> Options:
    """Look the parts up among the workspace's embedders, those of its `.olav/plugins` too."""
    placed = []
    for part in _parts(options.get("parts", PARTS)):
        spec = registry.embedder(part.id)
        own = part.options if spec.place is None else spec.place(part.options, root, registry)
        placed.append({"id": part.id, "weight": part.weight, "options": dict(own), "spec": spec})
    return {**options, "parts": placed}


@hookimpl
def olav_register_embedders() -> list[EmbedderSpec]:
    return [
        EmbedderSpec(
            id="ensemble",
            title="Two models' vectors as one: e5 and USE unless `parts` names others",
            factory=EnsembleEmbedder,
            place=place,
        )
    ]
