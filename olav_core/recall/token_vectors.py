"""Token vectors of a query and its candidates, in one centred space: what late interaction compares."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from olav_core.errors import OlavError
from olav_core.index.token_store import TokenCells, TokenStore, key_of, quantised
from olav_core.recall.token_comparison import PRODUCT, TokenComparison, compare
from olav_core.text.language import language_of

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.embedding.handle import EmbedderHandle
    from olav_core.index.pool import Candidate

#: Texts that the languages' mean token vectors are taken from, and those that a generic mean counts for.
SAMPLE_TEXTS = 1_000
SHRINKAGE_TEXTS = 50
#: A mean is taken anew when so many more texts are kept, as a share.
GROWTH = 0.25
#: Seconds after which it is looked whether they are.
RECOUNT = 60.0
#: Tokens of a longer query that are compared, evenly spread: a pasted log must not cost ten times as much.
QUERY_TOKENS = 64
#: Tokens of candidates after which no more are compared (1-2 ms): long passages are few, short turns all.
TOKENS = 5_000
#: Candidates that the store is asked for at a time.
SLICE = 16
#: Texts that wait for the background thread at most, and that it takes at a time.
WAITING = 2_000
BATCH = 32
#: How much longer than it works the background thread rests, so that recalls find the cores free.
REST = 2.0

_log = logging.getLogger("olav.index")


class TokenVectors:
    """Makes, keeps and centres token vectors. Thread-safe.

    A vector is scaled to unit length, projected on the embedder's basis (`EmbedderSpec.token_space`), freed
    of the mean token vector of its language among the stored texts, and scaled to unit length again. Texts
    that were written elsewhere are made up for in the background when a recall meets them.
    """

    def __init__(self, embedder: EmbedderHandle, store: Callable[[str], TokenStore]) -> None:
        """`store` opens the token store of an identity, at first use."""
        self._embedder = embedder
        self._open_store = store
        self._lock = threading.RLock()
        self._store: TokenStore | None = None
        self._space: Mapping[str, FloatArray] | None = None
        self._means: dict[str, FloatArray] = {}
        self._counted = -1
        self._added = 0
        self._counted_at = 0.0
        self._waiting: queue.Queue[str | None] = queue.Queue(WAITING)
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def compare(self, text: str, language: str, candidates: Sequence[Candidate]) -> TokenComparison:
        """Compare the query's tokens with the candidates'; nothing is compared when the embedder has none."""
        import numpy as np

        query = self._query(text)
        if query is None:
            return TokenComparison(np.zeros((0, 0), np.float32), np.full(len(candidates), -1, np.int64))
        cells = self._cells_of(candidates)
        means = self._mean_vectors()
        languages = list(dict.fromkeys(each.language for each in cells if each is not None))
        places = {name: place for place, name in enumerate(languages)}
        codes = [0 if each is None else places[each.language] for each in cells]
        if not means:
            return compare(query, cells, np.zeros((1, query.shape[1]), np.float32), [0] * len(cells))
        centres = np.array([_mean(means, name) for name in languages or [language]])
        return compare(_unit(query - _mean(means, language)), cells, centres, codes)

    def of_query(self, raw: FloatArray) -> FloatArray:
        """Return what is compared of a query's raw token vectors, projected; not centred yet, for means
        change."""
        import numpy as np

        self._opened()
        if len(raw) > QUERY_TOKENS:
            raw = raw[np.linspace(0, len(raw) - 1, QUERY_TOKENS).round().astype(int)]
        return self._projected(raw)

    def take(self, texts: Sequence[str], tokens: Sequence[FloatArray]) -> None:
        """Keep the raw token vectors float32 [tokens, d] that came with the texts' vectors."""
        store = self._opened()
        store.put((key_of(text), self._cells(text, each)) for text, each in zip(texts, tokens, strict=True))
        self._added += len(texts)

    def fill(self, texts: Iterable[str], *, replacing: bool = False) -> list[int]:
        """Make what is missing of `texts`, now; return the keys of all of them. In a full store only when
        `replacing`, for then others go."""
        by_key = {key_of(text): text for text in texts}
        if self._embedder.has_tokens:
            store = self._opened()
            missing = [by_key[key] for key in store.missing(by_key)]
            for start in range(0, len(missing), BATCH):
                part = missing[start : start + BATCH]
                if not (replacing or store.has_room()):
                    break
                if (tokens := self._embedder.token_vectors(part)) is None:
                    break
                self.take(part, tokens)
        return list(by_key)

    def keep_only(self, keys: Collection[int]) -> None:
        """Erase the token vectors of every other text; `keys` are those that `fill` returns."""
        self._opened().keep_only(keys)

    def close(self) -> None:
        """End the background thread after the texts that it has taken, and close the file."""
        self._closing.set()
        with suppress(queue.Full):  # who works on a full queue does not wait
            self._waiting.put_nowait(None)
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        if self._store is not None:
            self._store.close()

    # --- inside ---------------------------------------------------------------------------------

    def _opened(self) -> TokenStore:
        with self._lock:
            if self._store is None:
                import numpy as np

                spec = self._embedder.spec
                self._space = spec.token_space() if spec.token_space else {}
                basis = self._space.get("basis")
                identity = self._embedder.identity
                self._store = self._open_store(
                    f"1 {identity.name} {identity.revision} {identity.passage_prefix!r} "
                    f"{0.0 if basis is None else float(np.abs(basis).sum()):.6g}"
                )
            return self._store

    def _query(self, text: str) -> FloatArray | None:
        made = self._embedder.query_tokens(text)
        if made is None and self._embedder.has_tokens:  # it was embedded before a ranker asked
            raw = self._embedder.token_vectors([text], query=True)
            made = None if raw is None else self.of_query(raw[0])
        return made

    def _cells_of(self, candidates: Sequence[Candidate]) -> list[TokenCells | None]:
        """Return the candidates' token vectors, until there are TOKENS; have those made that are missing."""
        store, tokens = self._opened(), 0
        found: list[TokenCells | None] = []
        for start in range(0, len(candidates), SLICE):
            if tokens >= TOKENS:
                break
            texts = [each.record.search_text for each in candidates[start : start + SLICE]]
            keys = [key_of(text) for text in texts]
            known = store.get(keys)
            if len(known) < len(keys):
                self._want(text for key, text in zip(keys, texts, strict=True) if key not in known)
            found += [known.get(key) for key in keys]
            tokens += sum(len(known[key].scales) for key in keys if key in known)
        return found + [None] * (len(candidates) - len(found))

    def _projected(self, raw: FloatArray) -> FloatArray:
        assert self._space is not None
        basis = self._space.get("basis")
        unit = _unit(raw)
        if basis is None:
            return unit
        import numpy as np

        rows = max(1, PRODUCT // basis.size)
        parts = [unit[start : start + rows] @ basis for start in range(0, len(unit), rows)]
        return np.concatenate(parts) if parts else np.zeros((0, basis.shape[1]), np.float32)

    def _cells(self, text: str, raw: FloatArray) -> TokenCells:
        return quantised(language_of(text), self._projected(raw))

    def _mean_vectors(self) -> Mapping[str, FloatArray]:
        """Return the mean projected token vector per language, taken anew when the store has grown."""
        with self._lock:
            store = self._opened()
            counted = self._counted
            # Counting reads the whole key column, so other processes' texts are noticed once a minute.
            if self._added <= GROWTH * counted and time.monotonic() - self._counted_at < RECOUNT:
                return self._means
            count, self._added, self._counted_at = store.count(), 0, time.monotonic()
            if counted < 0 or abs(count - counted) > GROWTH * counted:
                assert self._space is not None
                generic = {
                    name: mean @ self._space["basis"] for name, mean in self._space.items() if name != "basis"
                }
                samples: dict[str, list[TokenCells]] = {name: [] for name in generic}
                for cells in store.sample(SAMPLE_TEXTS):
                    samples.setdefault(cells.language, []).append(cells)
                self._means = {
                    name: mean
                    for name, sample in samples.items()
                    if (mean := _language_mean(sample, generic.get(name))) is not None
                }
                self._counted = count
            return self._means

    def _want(self, texts: Iterable[str]) -> None:
        wanted = list(texts)
        if not wanted:
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():  # a fork has none
                self._waiting, self._closing = queue.Queue(WAITING), threading.Event()
                self._thread = threading.Thread(
                    target=self._work, args=(self._waiting, self._closing), name="olav-tokens", daemon=True
                )
                self._thread.start()
        try:
            for text in wanted:
                self._waiting.put_nowait(text)
        except queue.Full:
            pass  # the next recall that meets them asks again

    def _work(self, waiting: queue.Queue[str | None], closing: threading.Event) -> None:
        while (text := waiting.get()) is not None and not closing.is_set():
            batch = [text]
            while len(batch) < BATCH and not waiting.empty():
                if (following := waiting.get()) is None:
                    return
                batch.append(following)
            began = time.monotonic()
            try:
                self.fill(batch, replacing=True)
            except OlavError as error:
                _log.warning("Token vectors could not be made: %s", error)
            closing.wait(REST * (time.monotonic() - began))


def _language_mean(sample: Sequence[TokenCells], generic: FloatArray | None) -> FloatArray | None:
    import numpy as np

    told = [cells for cells in sample if len(cells.scales)]
    if not told:
        return generic
    tokens = sum(len(cells.scales) for cells in told)
    own = np.sum([cells.scales @ cells.values for cells in told], axis=0) / tokens
    if generic is None:
        return np.asarray(own, np.float32)
    weight = len(told) / (len(told) + SHRINKAGE_TEXTS)
    return np.asarray(weight * own + (1 - weight) * generic, np.float32)


def _mean(means: Mapping[str, FloatArray], language: str) -> FloatArray:
    """Return a language's mean; one that has none gets that of all."""
    import numpy as np

    if language in means:
        return means[language]
    return np.asarray(np.mean(list(means.values()), axis=0), np.float32)


def _unit(vectors: FloatArray) -> FloatArray:
    import numpy as np

    unit: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
