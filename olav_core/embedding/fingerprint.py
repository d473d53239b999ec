"""The identity of an embedding space: kept in the table, compared before any vector is read or written."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

from attrs import field, frozen

from olav_core.errors import EmbeddingDimMismatchError, EmbeddingSpaceMismatchError, StoreError

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray

#: What is embedded to tell spaces apart: a question, then passages in English, Chinese and code.
CANARY_QUERY = "why is the BGP neighbour 10.0.0.1 idle?"
CANARY_PASSAGES = (
    "Take a snapshot of the router before every change, and keep it for 30 days.",
    "变更之前先做快照，审批通过以后才能执行。",
    "def take_snapshot(host: str) -> Path:\n    return store.save(host, port=8080)",
)
#: Canaries must agree at this cosine: the same weights on another machine or runtime give >= .9999, one
#: model quantised twice about .99.
MIN_COSINE = 0.999
_COMPARED = ("embedder", "name", "revision", "pooling", "normalize", "query_prefix", "passage_prefix")
_FORMAT = 1


@frozen(kw_only=True, eq=False)
class Fingerprint:
    """One embedding space. `canaries`: unit float32 [k, dimension], the query first, then the passages."""

    embedder: str
    name: str
    revision: str
    pooling: str
    normalize: bool
    query_prefix: str
    passage_prefix: str
    dimension: int
    canaries: FloatArray = field(repr=False)

    def to_json(self) -> str:
        """Return a JSON object; the canaries as base64 of little-endian float32."""
        values = {name: getattr(self, name) for name in (*_COMPARED, "dimension")}
        raw = self.canaries.astype("<f4").tobytes()
        return json.dumps(
            {"format": _FORMAT, **values, "canaries": base64.b64encode(raw).decode()}, ensure_ascii=False
        )

    @classmethod
    def from_json(cls, text: str) -> Fingerprint:
        """Read what `to_json` wrote; raises StoreError for anything else."""
        import numpy as np

        try:
            values = json.loads(text)
            written = values.pop("format")
            raw = np.frombuffer(base64.b64decode(values.pop("canaries"), validate=True), "<f4")
            canaries = raw.astype(np.float32).reshape(-1, values["dimension"])
            if written == _FORMAT:
                return cls(**values, canaries=canaries)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"the table's embedding fingerprint is damaged ({type(error).__name__}). "
                "Run `olav kb reembed` to write it anew."
            ) from error
        raise StoreError(
            f"the table's embedding fingerprint has format {written}, this version reads {_FORMAT}. "
            "Upgrade olav-core."
        )


def check(stored: Fingerprint, current: Fingerprint, *, store: str) -> None:
    """Return when both are one space; `store` is how messages name the table.

    Raises EmbeddingDimMismatchError when the dimensions differ, EmbeddingSpaceMismatchError when anything
    else does.
    """
    import numpy as np

    if stored.dimension != current.dimension:
        raise EmbeddingDimMismatchError(
            f"{store} holds vectors of {stored.dimension} dimensions from embedder {_named(stored)}, but the "
            f"configured embedder {_named(current)} gives {current.dimension}. {_ways_out(stored, current)}"
        )
    differences = [
        f"{name} {getattr(stored, name)!r} stored, {getattr(current, name)!r} configured"
        for name in _COMPARED
        if getattr(stored, name) != getattr(current, name)
    ]
    if not differences:
        if stored.canaries.shape == current.canaries.shape:
            cosines = np.einsum("kd,kd->k", stored.canaries, current.canaries)
            if (cosines >= MIN_COSINE).all():
                return
            differences = [f"test texts agree only at cosine {cosines.min():.4f}, {MIN_COSINE} is needed"]
        else:
            differences = [f"{len(stored.canaries)} test texts stored, {len(current.canaries)} now"]
    raise EmbeddingSpaceMismatchError(
        f"{store} holds vectors of embedder {_named(stored)}, in another space than those of the configured "
        f"{_named(current)}: {'; '.join(differences)}. {_ways_out(stored, current)}"
    )


def _named(space: Fingerprint) -> str:
    return f"'{space.embedder}' ({space.name})"


def _ways_out(stored: Fingerprint, current: Fingerprint) -> str:
    return (
        "No vector was read or written. Three ways out: "
        f"(1) set `embedder: {{id: {stored.embedder}}}` in .olav/config.yaml, with the options it had; "
        f"(2) run `olav kb reembed --to {current.embedder}`; "
        "(3) for debugging, OLAV_ALLOW_DESTRUCTIVE_DIM_MIGRATION=1, which destroys all rows."
    )
