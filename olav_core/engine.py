"""The engine of an open memory: embedder, writer, pipeline and index, in the store's one embedding space."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

from olav_core import clock
from olav_core.config import Settings
from olav_core.embedding.configured import configured_embedder
from olav_core.embedding.handle import EmbedderHandle
from olav_core.embedding.space import EmbeddingSpace
from olav_core.errors import EmbeddingSpaceMismatchError, OlavError, StoreError
from olav_core.recall.lexicons import Lexicons
from olav_core.writer import Progress, Remembered, Writer

if TYPE_CHECKING:
    from olav_core.host.registry import Registry
    from olav_core.index.index import RecallIndex
    from olav_core.recall.chain import Chain
    from olav_core.recall.pipeline import RecallPipeline
    from olav_core.recall.recall import Recall
    from olav_core.recall.token_vectors import TokenVectors
    from olav_core.records import MemoryRecord
    from olav_core.specs import CategorySpec, DistanceScale
    from olav_core.store.calibrations import AppliedCalibration, Calibration
    from olav_core.store.maintenance import MaintenanceReport
    from olav_core.store.reembed import ReembedReport
    from olav_core.store.store import Store
    from olav_core.succession import Settlement
    from olav_core.workspace import Workspace

_log = logging.getLogger("olav")
_T = TypeVar("_T")
#: Memories whose texts are in memory at a time when token vectors are tended.
TEND_ROWS = 4_096


class Engine:
    """Makes what recalls and writes, and makes it anew when the space is switched. Thread-safe.

    The embedder loads at the first recall or write; the pipeline and its index open at the first recall,
    which `on_first_recall` hears of. Call `close` at the end.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        registry: Registry,
        store: Store,
        *,
        on_first_recall: Callable[[], object],
    ) -> None:
        self.store = store
        self.categories: Mapping[str, CategorySpec] = settings.apply_to(registry)
        self._workspace = workspace
        self._settings = settings
        self._registry = registry
        self._on_first_recall = on_first_recall
        self._lock = Lock()
        self._moving = Lock()
        self._closed = False
        self._executor = ThreadPoolExecutor(max_workers=2, thread_name_prefix="olav-embed")
        self.tokens: TokenVectors | None = None
        self._lexicons = Lexicons(
            (*(spec.folder for spec in registry.lexicons.values()), workspace.lexicon_directory)
        )
        self._pipeline: RecallPipeline | None = None
        chosen = settings.embedder
        self._use_embedder(configured_embedder(registry, workspace.root, chosen.id, chosen.options))
        store.upkeep.due_versions = settings.store.maintain_after
        store.upkeep.then = self._catch_up

    def _use_embedder(self, handle: EmbedderHandle) -> None:
        with self._lock:
            left = self._pipeline
            self.embedder = handle
            self.space = EmbeddingSpace(self.store, handle)
            self.writer = Writer(self.store, handle, self._registry, self.categories, self.space.check)
            self._pipeline = None
            if self.tokens is not None:
                self.tokens.close()
            self.tokens = self._token_vectors(handle)
        if left is not None:
            left.index.close()

    def _token_vectors(self, handle: EmbedderHandle) -> TokenVectors | None:
        """Return what keeps token vectors, when a ranker of the workspace asks for them."""
        specs = map(self._registry.rankers.get, self._settings.recall.rankers)
        if not any(spec is not None and spec.uses_tokens for spec in specs):
            return None
        from olav_core.index.token_store import TokenStore
        from olav_core.recall.token_vectors import TokenVectors

        path = self._workspace.token_path
        tokens = TokenVectors(handle, lambda identity: TokenStore(path, identity))
        handle.on_tokens, handle.shape_tokens = tokens.take, tokens.of_query
        return tokens

    @property
    def pipeline(self) -> RecallPipeline:
        """The recall pipeline of the present space."""
        with self._lock:
            first = self._pipeline is None
            if self._pipeline is None:
                from olav_core.index.index import RecallIndex
                from olav_core.recall.pipeline import RecallPipeline

                calibration = self.store.calibrations.current()
                self._pipeline = RecallPipeline(
                    index=RecallIndex(
                        self.store,
                        self._workspace.index_directory,
                        categories=self.categories,
                        generic_means=self.embedder.generic_means(),
                        alignment=self.embedder.alignment(),
                        resident_rows=self._settings.recall.resident_rows,
                    ),
                    embedder=self.embedder,
                    categories=self.categories,
                    chain=self._chain(calibration),
                    settings=self._settings.recall,
                    executor=self._executor,
                    check_space=self.space.check,
                    scale=self._scale(calibration),
                    tokens=self.tokens,
                    lexicons=self._lexicons,
                )
            pipeline = self._pipeline
        if first:
            self._on_first_recall()
        return pipeline

    def apply_calibration(self, calibration: Calibration) -> AppliedCalibration:
        """Make a calibration the store's newest, and go on with it."""
        if calibration.fingerprint != self.store.fingerprint:
            raise EmbeddingSpaceMismatchError(
                "this calibration was made for another embedder than the store's. Run `olav calibrate` again."
            )
        applied = self.store.calibrations.apply(calibration)
        self.use_calibration(applied)
        return applied

    def use_calibration(self, calibration: Calibration | None) -> None:
        """Go on with another calibration of the store, None for what the plug-ins ship."""
        scale, chain = self._scale(calibration), self._chain(calibration)
        with self._lock:
            if self._pipeline is not None:  # a new one in one step: a recall under way ends with the old one
                self._pipeline = evolve(self._pipeline, scale=scale, chain=chain)

    def _scale(self, calibration: Calibration | None) -> DistanceScale | None:
        return (calibration and calibration.scale) or self.embedder.scale

    def _chain(self, calibration: Calibration | None) -> Chain:
        from olav_core.recall.chain import build_chain

        thresholds = {} if calibration is None else calibration.thresholds
        categories = self._settings.with_thresholds(self.categories, thresholds)
        return build_chain(self._registry, self._settings, categories)

    @property
    def index(self) -> RecallIndex:
        """The derived recall index, opened on first use."""
        return self.pipeline.index

    def recall(self, query: str, **options: Any) -> Recall:
        """Run one recall; see RecallPipeline.run."""
        return self._in_one_space(lambda: self.pipeline.run(query, **options))

    def write(self, records: Sequence[MemoryRecord], **options: Any) -> list[Remembered]:
        """Write prepared records; see Writer.write."""
        return self._in_one_space(lambda: self.writer.write(records, **options))

    def resettle(self, change: Callable[[Settlement], None]) -> list[str]:
        """Change which of the stored memories are in force; see Writer.resettle."""
        return self._in_one_space(lambda: self.writer.resettle(change))

    def forget(self, id: str, *, purge: bool) -> None:
        """Erase one memory, and let go of what it superseded."""
        with self.store.lock.exclusive():  # its links as they are when it goes
            self.store.refresh()
            record = self.store.one(id)
            self.store.erase([id])
        self.release([record])
        if purge:
            self.store.erase([id], purge=True)

    def release(self, gone: Sequence[MemoryRecord]) -> list[str]:
        """Put in force again what deleted memories superseded, if it can be done now; return what changed."""
        linked = [row for row in gone if row.metadata.get("supersedes") or row.metadata.get("superseded_by")]
        linked = [row for row in linked if (spec := self.categories.get(row.category)) and spec.claims]

        def change(settlement: Settlement) -> None:
            for row in linked:
                settlement.release(row)

        try:
            return self.resettle(change) if linked else []
        except OlavError as error:
            _log.warning("what %s superseded stays so (%s); see `olav kb reinstate`", linked[0].id, error)
            return []

    def _in_one_space(self, action: Callable[[], _T]) -> _T:
        """Run `action`, and again when this engine's own re-embed switched the space under it."""
        while True:
            if self._closed:
                raise StoreError("this memory was closed. Open it again with `olav_core.open`.")
            with self._lock:
                writer = self.writer
            try:
                return action()
            except EmbeddingSpaceMismatchError:
                with self._moving:  # until the switch is complete
                    if self.writer is writer:
                        raise

    def reembed(
        self, embedder: str, options: Mapping[str, Any], *, on_progress: Progress | None = None
    ) -> ReembedReport:
        """Move the store to another embedder, name it in the configuration, and go on with it."""
        from olav_core.store.reembed import reembed

        handle = configured_embedder(self._registry, self._workspace.root, embedder, options)
        fingerprint = handle.fingerprint().to_json()
        with self._moving:
            report = reembed(self.store, handle.passages, fingerprint, on_progress=on_progress)
            Settings.save_embedder(self._workspace.config_path, embedder, options)
            self._use_embedder(handle)
        return report

    def optimize(self) -> MaintenanceReport:
        """Maintain the store now and bring the index up to date."""
        report = self.store.optimize()
        self.index.sync()
        self.index.flush()
        if self.tokens is not None and (self.embedder.has_tokens or self._workspace.token_path.exists()):
            self._tend(self.tokens)
        return report

    def _tend(self, tokens: TokenVectors) -> None:
        """Make missing token vectors and erase those of texts that are gone, some thousand at a time."""
        import numpy as np

        pool = self.index.pool(None, now=clock.now().timestamp())
        rows = np.flatnonzero(pool.eligible).tolist()
        kept: set[int] = set()
        for start in range(0, len(rows), TEND_ROWS):
            texts = [record.search_text for record in pool.records(rows[start : start + TEND_ROWS])]
            kept.update(tokens.fill(texts))
        tokens.keep_only(kept)

    def _catch_up(self) -> None:
        if self._pipeline is not None:
            self._pipeline.index.sync()
            self._pipeline.index.flush()

    def close(self) -> None:
        """Wait for what is being embedded, let go of the index and the store."""
        self._closed = True
        self._executor.shutdown(wait=True)
        if self.tokens is not None:
            self.tokens.close()
        if self._pipeline is not None:
            self._pipeline.index.close()
        self.store.close()
