"""Does a query mean a file? By its keywords, else by the calibrated distance of what it is about."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final

from attrs import frozen

from olav_core.context.static_text import StaticText
from olav_core.embedding.distance import canonical
from olav_core.errors import EmbedderError
from olav_core.index.keywords import KeywordTable
from olav_core.text.language import language_of

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray
    from olav_core.embedding.handle import EmbedderHandle
    from olav_core.memory import Memory

#: Vectors of files that a memory keeps: a host's agents together have some dozens.
MAX_KEPT: Final = 1_024


@frozen(kw_only=True)
class Evidence:
    """Why a query means a file. `found`: its keywords that stand in the query; `strength` in [0, 1) as in
    recall; `distance` is canonical, None without an embedder or scale."""

    found: tuple[str, ...] = ()
    strength: float = 0.0
    distance: float | None = None


class FileIntent:
    """Compares queries with files in the store's centred space. Thread-safe; keeps the files' vectors."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._embedder: EmbedderHandle | None = None
        self._vectors: OrderedDict[str, FloatArray] = OrderedDict()  # of that embedder
        self._lock = Lock()

    def evidence(self, query: str, files: Sequence[StaticText]) -> tuple[list[Evidence], str]:
        """Return one Evidence per file, and why there are no distances (empty when there are)."""
        table = KeywordTable()
        for number, file in enumerate(files):
            table.put(number, file.keywords)
        strengths = dict(zip(*(found.tolist() for found in table.hits(query)), strict=True))
        distances, why = self._distances(query, files)
        return [
            Evidence(
                found=_standing(query, file.keywords) if number in strengths else (),
                strength=strengths.get(number, 0.0),
                distance=distances[number],
            )
            for number, file in enumerate(files)
        ], why

    def _distances(self, query: str, files: Sequence[StaticText]) -> tuple[list[float | None], str]:
        nothing: list[float | None] = [None] * len(files)
        scale = self._memory.scale
        if scale is None:
            return nothing, f"the embedder {self._memory.embedder.id!r} has no distance scale"
        try:
            raw = self._memory.embedder.query(query)
            vectors = self._passages([file.about for file in files])
        except EmbedderError as error:
            return nothing, str(error)
        index = self._memory.index
        asked = index.center_query(raw, language_of(query))
        found: list[float | None] = []
        for file, vector in zip(files, vectors, strict=True):
            centred = index.center_query(vector, language_of(file.about))
            found.append(canonical(max(2.0 - 2.0 * float(asked @ centred), 0.0), scale))
        return found, ""

    def _passages(self, texts: Sequence[str]) -> list[FloatArray]:
        embedder = self._memory.embedder
        with self._lock:
            if embedder is not self._embedder:  # at first, and after a re-embedding
                self._embedder, self._vectors = embedder, OrderedDict()
            kept = self._vectors
            found = {text: kept[text] for text in texts if text in kept}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found.update(zip(missing, embedder.passages(missing), strict=True))
        with self._lock:
            for text in texts:
                kept[text] = found[text]
                kept.move_to_end(text)
            while len(kept) > MAX_KEPT:
                kept.popitem(last=False)
        return [found[text] for text in texts]


def _standing(query: str, keywords: Sequence[str]) -> tuple[str, ...]:
    found = []
    for word in keywords:
        table = KeywordTable()
        table.put(0, [word])
        if len(table.hits(query)[0]):
            found.append(word)
    return tuple(found)
