"""An embedder as the core uses it: loaded once, its answers checked, its query vectors kept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from olav_core.embedding.fingerprint import CANARY_PASSAGES, CANARY_QUERY, Fingerprint
from olav_core.embedding.query_cache import EmbeddedQuery, QueryCache
from olav_core.embedding.shared_embedders import shared_embedder
from olav_core.embedding.unit_rows import unit_rows
from olav_core.errors import ConfigError, EmbedderError, EmbedderUnavailableError, OlavError, RecordError
from olav_core.records import check_text, clean_text
from olav_core.specs import DistanceScale, Embedder, EmbedderSpec, ModelIdentity, Options

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray

#: Texts that an embedder gets at a time: memory and progress of a bulk write are bounded by it.
CHUNK_TEXTS = 256
#: Of a longer query only the first and the last halves of this many characters are embedded, where a pasted
#: question stands: someone waits for it, and 8,000 characters are 0.3-0.8 s of e5 already.
MAX_QUERY_CHARS = 4_000
#: The fixed string that is embedded to learn the dimension.
PROBE = "dimension probe"
_T = TypeVar("_T")

_log = logging.getLogger("olav.embedding")


class EmbedderHandle:
    """One configured embedder. Cheap to make; loads at first use, and handles with the same spec and options
    share what is loaded. Safe to call from several threads and event loops.

    Vectors are checked (shape, finite, not zero) and normalised to unit length. Methods raise EmbedderError
    for a text or answer that is unusable, EmbedderUnavailableError when the embedder cannot be reached,
    ConfigError for options it does not take.
    """

    def __init__(
        self,
        spec: EmbedderSpec,
        options: Options | None = None,
        *,
        place: Callable[[Options], Options] | None = None,
        cache_size: int = 2048,
    ) -> None:
        self.spec = spec
        self.options: dict[str, Any] = dict(options or {})
        self._place = place
        self._queries = QueryCache(cache_size)
        self._lock = threading.RLock()
        self._embedder: Embedder | None = None
        self._dimension: int | None = None
        self._fingerprint: Fingerprint | None = None
        #: Gets the raw token vectors of texts that `passages_each` embeds, where they come with the vectors.
        self.on_tokens: Callable[[Sequence[str], Sequence[FloatArray]], None] | None = None
        #: Makes of a query's raw token vectors what is kept of them; without it they are not asked for.
        self.shape_tokens: Callable[[FloatArray], FloatArray] | None = None
        self._tokenless = False

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def scale(self) -> DistanceScale | None:
        return self.spec.scale

    @property
    def identity(self) -> ModelIdentity:
        """What tells this embedder's space; may read the model's files."""
        return self._guarded(lambda: self._loaded().identity)

    @property
    def dimension(self) -> int:
        """The length of its vectors, learnt by embedding PROBE once; never assumed."""
        if self._dimension is None:
            with self._lock:
                if self._dimension is None:
                    self._dimension = self._ask("embed_passages", [PROBE], None).shape[1]
        return self._dimension

    def fingerprint(self) -> Fingerprint:
        """The identity of this embedder's space; embeds the canary texts once."""
        with self._lock:
            if self._fingerprint is None:
                import numpy as np

                identity, dimension = self.identity, self.dimension
                canaries = np.vstack(
                    [
                        self._checked("embed_queries", [CANARY_QUERY]),
                        self._checked("embed_passages", CANARY_PASSAGES),
                    ]
                )
                self._fingerprint = Fingerprint(
                    embedder=self.id,
                    name=identity.name,
                    revision=identity.revision,
                    pooling=identity.pooling,
                    normalize=identity.normalize,
                    query_prefix=identity.query_prefix,
                    passage_prefix=identity.passage_prefix,
                    dimension=dimension,
                    canaries=canaries,
                )
            return self._fingerprint

    def generic_means(self) -> Mapping[str, FloatArray]:
        """Mean raw passage vectors of general text by language, float32 [d]; empty if none are shipped."""
        return self.spec.generic_means() if self.spec.generic_means else {}

    def alignment(self) -> Mapping[str, FloatArray]:
        """What brings its languages together, see EmbedderSpec; empty if none is shipped."""
        return self.spec.alignment() if self.spec.alignment else {}

    def query(self, text: str) -> FloatArray:
        """Return the unit vector of a query, float32 [d], read-only; the last `cache_size` are kept."""
        return self._asked(text).vector

    def query_tokens(self, text: str) -> FloatArray | None:
        """Return what `shape_tokens` made of a query's token vectors, kept beside its vector and of the same
        run of the model; None when the embedder has none."""
        return self._asked(text).tokens

    @property
    def has_tokens(self) -> bool:
        """Whether the embedder has token vectors, as far as is known: a model's file may be read first."""
        return not self._tokenless and getattr(self._loaded(), "token_vectors", None) is not None

    def knows(self, text: str) -> bool:
        """Return whether `query` would answer at once."""
        return _query_text(text) in self._queries

    def passages(
        self, texts: Sequence[str], *, on_progress: Callable[[int, int], None] | None = None
    ) -> FloatArray:
        """Return unit vectors float32 [n, d]; raises the error of the first text that has none.

        `on_progress(done, total)` is called after every chunk.
        """
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for place, result in enumerate(self.passages_each(texts, on_progress=on_progress)):
            if isinstance(result, EmbedderError):
                raise result
            vectors[place] = result
        return vectors

    def passages_each(
        self, texts: Sequence[str], *, on_progress: Callable[[int, int], None] | None = None
    ) -> list[FloatArray | EmbedderError]:
        """Return per text its unit vector float32 [d], or why it has none: one bad text spoils no other.

        An embedder that is unreachable raises: that is no fault of a text.
        """
        results: list[FloatArray | EmbedderError] = []
        for start in range(0, len(texts), CHUNK_TEXTS):
            results += self._each(texts[start : start + CHUNK_TEXTS], start)
            if on_progress:
                on_progress(len(results), len(texts))
        return results

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[FloatArray] | None:
        """Return float32 [tokens, d] per text, as the embedder gives them; None if it gives none."""
        embed = getattr(self._loaded(), "token_vectors", None) if self.has_tokens else None
        if embed is None:
            return None
        cleaned = [_query_text(text) if query else _passage_text(text) for text in texts]
        return self._guarded(lambda: list(embed(cleaned, query=query)))

    # --- asking and checking ---------------------------------------------------------------------

    def _each(self, texts: Sequence[str], offset: int) -> list[FloatArray | EmbedderError]:
        results: list[FloatArray | EmbedderError | None] = [None] * len(texts)
        good: list[tuple[int, str]] = []
        for place, text in enumerate(texts):
            try:
                good.append((place, _passage_text(text)))
            except EmbedderError as error:
                results[place] = EmbedderError(f"text {offset + place + 1}: {error}")
        for place, result in self._split(good, offset):
            results[place] = result
        return [result for result in results if result is not None]

    def _split(
        self, items: list[tuple[int, str]], offset: int
    ) -> list[tuple[int, FloatArray | EmbedderError]]:
        """Embed the items together; when that fails, halve until the ones at fault stand alone."""
        if not items:
            return []
        try:
            texts = [text for _, text in items]
            vectors = self._with_tokens(texts) if self.on_tokens else self._checked("embed_passages", texts)
            return [(place, vector) for (place, _), vector in zip(items, vectors, strict=True)]
        except EmbedderUnavailableError:
            raise
        except EmbedderError as error:
            if len(items) == 1:
                place = items[0][0]
                return [(place, EmbedderError(f"text {offset + place + 1}: {error}"))]
        half = len(items) // 2
        return self._split(items[:half], offset) + self._split(items[half:], offset)

    def _asked(self, text: str) -> EmbeddedQuery:
        text = _query_text(text)
        if (known := self._queries.get(text)) is not None:
            return known
        shape = self.shape_tokens
        both = self._both("embed_queries", [text]) if shape else None
        if shape is None:
            made = EmbeddedQuery(self._checked("embed_queries", [text])[0])
        elif both is not None:
            made = EmbeddedQuery(both[0][0], self._shaped(both[1]))
        else:
            vector = self._checked("embed_queries", [text])[0]
            made = EmbeddedQuery(vector, self._shaped(None, text))
        made.vector.flags.writeable = False
        self._queries.put(text, made)
        return made

    def _shaped(self, raw: Sequence[FloatArray] | None, text: str = "") -> FloatArray | None:
        """Return what is kept of a query's raw token vectors, which None asks the embedder for."""
        try:
            raw = self.token_vectors([text], query=True) if raw is None else raw
            return None if raw is None or self.shape_tokens is None else self.shape_tokens(raw[0])
        except Exception as error:  # the vector alone finds well enough
            _log.warning("A query has no token vectors: %s", error)
            return None

    def _with_tokens(self, texts: Sequence[str]) -> FloatArray:
        """Return the texts' vectors, and hand on their token vectors when both come of one run."""
        both = self._both("embed_passages", texts)
        if both is None or self.on_tokens is None:
            return self._checked("embed_passages", texts)
        try:
            self.on_tokens(texts, both[1])
        except Exception as error:  # they can be made again; the write goes on
            _log.warning("Token vectors of embedder %r were not kept: %r", self.id, error)
        return both[0]

    def _both(self, method: str, texts: Sequence[str]) -> tuple[FloatArray, Sequence[FloatArray]] | None:
        """Return unit vectors and token vectors of one run; None from an embedder that has no such method, or
        whose model turns out to have no token vectors."""
        embed = getattr(self._loaded(), f"{method}_with_tokens", None)
        if embed is None or self._tokenless:
            return None
        dimension = self.dimension
        try:
            vectors, tokens = self._guarded(lambda: embed(list(texts)))
        except ConfigError as error:
            _log.info("Embedder %r has no token vectors: %s", self.id, error)
            self._tokenless = True
            return None
        return unit_rows(self.id, f"{method}_with_tokens", vectors, len(texts), dimension), tokens

    def _checked(self, method: str, texts: Sequence[str]) -> FloatArray:
        return self._ask(method, texts, self.dimension)

    def _ask(self, method: str, texts: Sequence[str], dimension: int | None) -> FloatArray:
        """Call the embedder and return unit rows, or raise EmbedderError for an answer that is none."""
        embedder = self._loaded()
        answer = self._guarded(lambda: getattr(embedder, method)(list(texts)))
        return unit_rows(self.id, method, answer, len(texts), dimension)

    def _guarded(self, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except OlavError:
            raise
        except Exception as error:
            raise EmbedderError(
                f"embedder '{self.id}' failed with {type(error).__name__}: {error}. Run `olav doctor`."
            ) from error

    def _loaded(self) -> Embedder:
        if self._embedder is None:
            with self._lock:
                if self._embedder is None:
                    placed = self.options if self._place is None else self._place(self.options)
                    self._embedder = shared_embedder(self.spec, placed)
        return self._embedder


def _query_text(text: str) -> str:
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise EmbedderError("the query is blank. Give at least one visible character.")
    if len(cleaned) <= MAX_QUERY_CHARS:
        return cleaned
    half = MAX_QUERY_CHARS // 2
    return f"{cleaned[:half]}\n{cleaned[-half:]}"


def _passage_text(text: str) -> str:
    try:
        return check_text(text)
    except RecordError as error:
        raise EmbedderError(str(error)) from error
