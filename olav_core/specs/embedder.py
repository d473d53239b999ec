"""An embedder: what makes vectors, which model it is, and the scale of its distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from attrs import frozen

from olav_core.specs.options import Options

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.host.registry import Registry


@frozen(kw_only=True)
class ModelIdentity:
    """What makes two embedders one space. `revision` is the sha256 of the source weights, or, for a
    remote model that shows none, its name and base URL."""

    name: str
    revision: str
    pooling: str = ""
    normalize: bool = True
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int | None = None


@frozen(kw_only=True)
class DistanceScale:
    """Measured anchors of the canonical distance, as squared L2 in the centred space.

    `hit`: median distance of true pairs. `noise`: 5th percentile, over unrelated queries, of the distance
    to the nearest of `pool` rows. `source`: the script or command that measured it.
    """

    hit: float
    noise: float
    pool: int
    source: str


@runtime_checkable
class Embedder(Protocol):
    """What an embedder's factory returns. Rows are float32 [n, d]; the core checks and normalises them.

    May also offer `token_vectors(texts, *, query=False) -> list of float32 [tokens, d]` for late interaction,
    `embed_passages_with_tokens(texts) -> (vectors, token vectors)`, so that a write runs the model once, and
    `embed_queries_with_tokens(texts)`, so that a recall does; both raise ConfigError if there are none.
    Must be safe to call from several threads. Raises EmbedderUnavailableError when it cannot be reached.
    """

    identity: ModelIdentity

    def embed_queries(self, texts: Sequence[str]) -> FloatArray: ...

    def embed_passages(self, texts: Sequence[str]) -> FloatArray: ...


@frozen(kw_only=True)
class EmbedderSpec:
    """A way to make vectors. `languages`: ISO 639-1 codes it is good at, empty when unknown.

    `generic_means()` gives, per language, the mean raw passage vector float32 [d] of general text: used
    while a store holds few rows of that language. `alignment()` gives `axes` float32 [k, d], directions
    that tell languages apart, at right angles and no longer than 1 (of a vector's part along one, the square
    of its length is taken out), and for a language a map float32 [d, d] of its vectors (`vector @ map`), best
    a rotation; any entry may be missing. `token_space()` gives the `basis` float32 [d, k] that token vectors
    are kept on (none: all d), and per language the mean of unit token vectors float32 [d].
    `factory(options)` must be cheap until first use. `place(options, root, registry)` returns options that
    no longer hang on the workspace in `root`: a path made absolute, another embedder looked up in its
    registry. It is called before the factory, where there is a workspace; `place_path` is one for `path`.
    """

    id: str
    title: str
    factory: Callable[[Options], Embedder]
    languages: tuple[str, ...] = ()
    generic_means: Callable[[], Mapping[str, FloatArray]] | None = None
    alignment: Callable[[], Mapping[str, FloatArray]] | None = None
    token_space: Callable[[], Mapping[str, FloatArray]] | None = None
    scale: DistanceScale | None = None
    place: Callable[[Options, Path, Registry], Options] | None = None
