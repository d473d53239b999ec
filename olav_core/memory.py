"""The memory of one workspace: the public face of everything below it."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any

from olav_core import clock
from olav_core.agents import DEFAULT_AGENT, check_scopes, scopes_of, tier_of
from olav_core.async_twin import async_twin
from olav_core.config import Settings
from olav_core.embedding.handle import EmbedderHandle
from olav_core.engine import Engine
from olav_core.errors import OlavError, RecordError
from olav_core.host.registry import Registry
from olav_core.recall.recall import CandidateTrace, Recall
from olav_core.recall.tier import TIER_LIMITS
from olav_core.records import MemoryRecord
from olav_core.specs import DistanceScale, Draft
from olav_core.store.recall_log import query_hash
from olav_core.workspace import Workspace
from olav_core.writer import Progress, Remembered

if TYPE_CHECKING:
    from olav_core.calibration.calibrating import CalibrationReport
    from olav_core.capture.capture import Capture, Captured
    from olav_core.context.context import Context
    from olav_core.context.resolver import ContextResolver
    from olav_core.history import History
    from olav_core.importing.report import ImportReport
    from olav_core.index.coverage import Coverage
    from olav_core.index.index import RecallIndex
    from olav_core.redaction.report import RescanReport
    from olav_core.store.calibrations import AppliedCalibration, Calibration
    from olav_core.store.maintenance import MaintenanceReport
    from olav_core.store.reembed import ReembedReport
    from olav_core.store.store import Store

#: Drafts that are embedded and committed together: bounds memory, keeps commits few.
WRITE_BATCH = 512


def _check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RecordError(f"{name} must be a whole number from 0 on, not {value!r}.")


class Memory:
    """Recalls from and writes to one workspace. Open it with `olav_core.open`; it is a context manager.

    Thread-safe. Cheap to open: the embedder loads at the first recall or write. Methods raise OlavError
    subclasses; a recall whose embedder cannot be reached goes on lexically and says so in `degraded`.
    """

    def __init__(self, workspace: Workspace, settings: Settings, registry: Registry, store: Store) -> None:
        self.workspace = workspace
        self.settings = settings
        self.registry = registry
        self.store = store
        # What a killed process captured is stored by the next one that recalls.
        self._engine = Engine(
            workspace, settings, registry, store, on_first_recall=lambda: self.captures.resume()
        )
        self.categories = self._engine.categories
        self._lock = Lock()
        self._captures: Capture | None = None
        self._contexts: ContextResolver | None = None
        self._history: History | None = None

    # --- recall ---------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        *,
        agent: str = DEFAULT_AGENT,
        tier: str | None = None,
        model: str | None = None,
        limit: int | None = None,
        category: str | None = None,
        scopes: Sequence[str] | None = None,
        token_budget: int | None = None,
        log: bool = True,
    ) -> Recall:
        """Return the memories that matter to `query` for `agent`, and the block for its prompt.

        K is `limit`, else the tier's (1, 2, 13); the tier is `tier`, else that of `model`, else the
        agent's or the workspace's setting. `scopes` defaults to the agent, its teams and "global".
        `token_budget` is what the block may take, else the tier's setting (estimated tokens).
        `log=False` keeps the recall out of the access counts.

        Raises EmbeddingSpaceMismatchError, UnknownIdError (category) and ConfigError (tier).
        """
        chosen = tier_of(agent, self.settings, tier=tier, model=model)
        if token_budget is not None:
            _check_count("token_budget", token_budget)
        result = self._run(
            query,
            agent=agent,
            scopes=self._scopes(agent, scopes),
            tier=chosen,
            limit=TIER_LIMITS[chosen] if limit is None else limit,
            category=category,
            token_budget=token_budget,
        )
        if log and self.settings.recall.log:
            self._log(result)
        self.registry.notify_recalled(result)
        return result

    def _log(self, result: Recall) -> None:
        now = clock.now().timestamp()
        if result.items:
            ids = [item.id for item in result.items]
            hashed = query_hash(result.query)
            self.store.log_recall(ids, agent=result.agent, query_hash=hashed, tier=result.tier, ts=now)
        if self.settings.recall.log_queries and result.query and result.limit:
            self.history.asked(result, now)

    def search(
        self,
        query: str,
        *,
        agent: str = DEFAULT_AGENT,
        scopes: Sequence[str] | None = None,
        category: str | None = None,
        limit: int = 10,
    ) -> Recall:
        """Return the `limit` best memories as ranked: no gates, caps, quotas, budget, block or log."""
        return self._run(
            query,
            agent=agent,
            scopes=self._scopes(agent, scopes),
            tier=tier_of(agent, self.settings),
            limit=limit,
            category=category,
            ranking_only=True,
        )

    def why(self, id: str, query: str, **options: Any) -> tuple[CandidateTrace | None, Recall]:
        """Return how the memory `id` (or a unique prefix) fared in `recall(query, **options)`, and it.

        The trace is None when the memory was not among the candidates: another scope, expired, not
        recallable, or outranked by many of its own category.
        """
        record = self.get(id)
        recall = self.recall(query, log=False, **options)
        return next((trace for trace in recall.trace if trace.id == record.id), None), recall

    def context(
        self,
        query: str,
        *,
        agent: str = DEFAULT_AGENT,
        tier: str | None = None,
        model: str | None = None,
        limit: int | None = None,
        category: str | None = None,
        scopes: Sequence[str] | None = None,
        token_budget: int | None = None,
        log: bool = True,
    ) -> Context:
        """Return everything that `agent` should read for `query`, and why each part is in it or not.

        Three layers: files that its SKILL.md or AGENT.md names (`static_context`), files that the query means
        (`on_intent`), recalled memories. `token_budget` is for all together, else the tier's
        (`context.token_budget`). `limit`, `category`, `scopes` and `log` as in `recall`.

        Raises what `recall` raises. A file that cannot be read is left out and named in `warnings`.
        """
        if token_budget is not None:
            _check_count("token_budget", token_budget)
        with self._lock:
            if self._contexts is None:
                from olav_core.context.resolver import ContextResolver

                self._contexts = ContextResolver(self)
            resolver = self._contexts
        return resolver.resolve(
            query, agent=agent, tier=tier, model=model, token_budget=token_budget,
            limit=limit, category=category, scopes=scopes, log=log,
        )  # fmt: skip

    def enrich(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        agent: str = DEFAULT_AGENT,
        tier: str | None = None,
        model: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return the messages of one model call with the block directly before the user's query.

        `messages` are role/content mappings, content a string or a list of blocks; they are not changed.
        Blocks of earlier calls are taken out, so there is exactly one, or none when nothing matters.
        """
        from olav_core.recall.messages import last_user_text, with_block

        text = last_user_text(messages)
        block = self.recall(text, agent=agent, tier=tier, model=model).block if text else ""
        return with_block(messages, block)

    # --- write ----------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        category: str = "fact",
        scope: str | None = None,
        origin: str = "user",
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        confidence: float = 1.0,
        timestamp: Any = None,
        expires_at: Any = None,
        revive: bool = False,
    ) -> Remembered:
        """Store one memory; the same memory again is the same row.

        Raises RecordError (what is wrong with which field), UnknownIdError (category), ErasedTextError (it
        was forgotten; `revive=True` stores it all the same), EmbedderError, EmbeddingSpaceMismatchError.
        """
        draft = Draft(
            text=text,
            category=category,
            scope=scope,
            origin=origin,
            metadata=metadata or {},
            tags=tags,  # type: ignore[arg-type]  # checked by prepare
            confidence=confidence,
            timestamp=timestamp,
            expires_at=expires_at,
        )
        (outcome,) = self.write([self.prepare(draft)], revive=revive)
        if outcome.error is not None:
            raise outcome.error
        return outcome

    def remember_many(
        self, drafts: Iterable[Draft], *, revive: bool = False, on_progress: Progress | None = None
    ) -> list[Remembered]:
        """Store many memories in batches, one outcome each, in order.

        A draft that is refused carries its error and the others are stored. Raises
        EmbedderUnavailableError and EmbeddingSpaceMismatchError; batches written before stay written.
        """
        drafts = list(drafts)
        outcomes: list[Remembered] = []
        for start in range(0, len(drafts), WRITE_BATCH):
            batch: list[MemoryRecord | OlavError] = []
            for draft in drafts[start : start + WRITE_BATCH]:
                try:
                    batch.append(self.prepare(draft))
                except OlavError as error:
                    batch.append(error)
            records = [item for item in batch if isinstance(item, MemoryRecord)]
            written = iter(self.write(records, revive=revive) if records else [])
            outcomes += [
                Remembered(id="", error=item) if isinstance(item, OlavError) else next(written)
                for item in batch
            ]
            if on_progress is not None:
                on_progress(len(outcomes), len(drafts))
        return outcomes

    def prepare(self, draft: Draft) -> MemoryRecord:
        """Return the checked, redacted record that `draft` becomes; nothing is written."""
        return self._engine.writer.prepare(draft)

    def write(
        self, records: Sequence[MemoryRecord], *, settle: bool = True, **options: Any
    ) -> list[Remembered]:
        """Write prepared records; see Writer.write. `settle=False` lets contradicting ones stand."""
        return self._engine.write(records, settle=settle, **options)

    def reinstate(self, id: str, *, beside: bool = False) -> list[str]:
        """Put a superseded memory in force again; return the ids that changed.

        What contradicts it goes out of force, or with `beside` both hold from now on. It counts as a person's
        word. Raises RecordError when it is in force already, UnknownIdError when there is none.
        """
        exact = self.get(id).id
        return self._engine.resettle(lambda settlement: settlement.reinstate(exact, beside=beside))

    def forget(self, id: str, *, purge: bool = False) -> str:
        """Erase the memory `id` (or a unique prefix) from every read path; return its id.

        Its text does not come back by capture or import. What it superseded is in force again, unless another
        memory contradicts that. `purge=True` also removes it from old versions and files. Raises
        UnknownIdError, and RecordError for an append-only category without `purge`.
        """
        record = self.get(id)
        spec = self.categories.get(record.category)
        if spec is not None and spec.append_only and not purge:
            raise RecordError(
                f"{record.id} belongs to the append-only category {record.category!r}: it stays until it "
                "expires. If it must go for good, forget it with purge (`--purge`)."
            )
        self._engine.forget(record.id, purge=purge)
        return record.id

    def release(self, gone: Sequence[MemoryRecord]) -> builtins.list[str]:
        """Put in force again what deleted memories superseded and nothing else contradicts; return the ids
        that changed. When they cannot be embedded now they stay as they are, with a warning."""
        return self._engine.release(gone)

    def get(self, id: str) -> MemoryRecord:
        """Return the memory with this id or unique id prefix or raise UnknownIdError."""
        self.store.refresh()
        return self.store.one(id)

    def list(
        self,
        *,
        category: str | None = None,
        scopes: Sequence[str] | None = None,
        origin: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[MemoryRecord]:
        """Return memories, newest first; every scope unless `scopes` names some."""
        if scopes is not None:
            scopes = check_scopes(scopes)
        _check_count("offset", offset)
        if limit is not None:
            _check_count("limit", limit)
        for name, text in (("category", category), ("origin", origin)):
            if text is not None and not isinstance(text, str):
                raise RecordError(f"{name} must be a string, not {text!r}.")
        self.store.refresh()
        return self.store.list(category=category, scopes=scopes, origin=origin, limit=limit, offset=offset)

    # --- capture --------------------------------------------------------------------------------

    def capture(
        self,
        *,
        tool: str,
        args: Any = None,
        result: Any = None,
        agent: str = DEFAULT_AGENT,
        scope: str | None = None,
        run: str = "",
        call: str = "",
        status: str | None = None,
        time: Any = None,
        mark: bool | None = None,
    ) -> Captured | None:
        """Take note of a finished tool call; None when it changed nothing or failed.

        What is returned is redacted and on disk; the memory follows within seconds, one row per operation
        (scope, tool, args) with a count. `args` and `result` may be of any shape. `call`, the call's own id,
        keeps a call that is told twice from being counted twice. `mark` is the tool's wish, before all rules.

        Raises CaptureError (the spool is full or cannot be written), PluginError (a redactor failed: nothing
        was kept) and RecordError (tool, scope, time).
        """
        return self.captures.capture(
            tool=tool, args=args, result=result, agent=agent, scope=scope, run=run, call=call,
            status=status, time=time, mark=mark,
        )  # fmt: skip

    @property
    def captures(self) -> Capture:
        """The capture of this workspace: its decisions, its spool, its drain."""
        with self._lock:
            if self._captures is None:
                from olav_core.capture.capture import Capture

                self._captures = Capture(self)
            return self._captures

    # --- files ----------------------------------------------------------------------------------

    def import_guides(self, directory: str | os.PathLike[str], **options: Any) -> ImportReport:
        """Import the `*.guide.yaml` below a directory; see olav_core.importing.directory.import_directory."""
        return self._import(directory, "usage_guide", **options)

    def import_formats(self, directory: str | os.PathLike[str], **options: Any) -> ImportReport:
        """Import the `*.format.yaml` below a directory."""
        return self._import(directory, "format_guide", **options)

    def _import(self, directory: str | os.PathLike[str], category: str, **options: Any) -> ImportReport:
        from olav_core.importing.directory import import_directory

        importers = [spec.id for spec in self.registry.importers.values() if spec.category == category]
        options = {"workspace": self.workspace.root, "importers": importers, **options}
        return import_directory(self, Path(directory), **options)

    # --- history --------------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """What was asked and shown, and people's thumbs."""
        with self._lock:
            if self._history is None:
                from olav_core.history import History

                self._history = History(self)
            return self._history

    # --- the store's own affairs ----------------------------------------------------------------

    def check_space(self) -> None:
        """Raise EmbeddingSpaceMismatchError when the configured embedder is not the store's.

        Raises EmbedderUnavailableError when that cannot be found out.
        """
        self._engine.space.check()

    def status(self) -> dict[str, Any]:
        """Return rows per category and scope, orphans, the embedding space, size and index coverage."""
        from olav_core.status import status

        return status(self)

    def optimize(self) -> MaintenanceReport:
        """Fold access counts, delete expired rows, compact, clean up, bring the index up to date."""
        return self._engine.optimize()

    def reembed(
        self, embedder: str, options: Mapping[str, Any] | None = None, *, on_progress: Progress | None = None
    ) -> ReembedReport:
        """Move the store to another embedder: resumable, proven, switched in one step at the end.

        The configuration then names the new embedder, and this memory goes on with it. The old vectors are
        kept, so going back is cheap, until `purge_old_spaces`.
        """
        return self._engine.reembed(embedder, options or {}, on_progress=on_progress)

    def rescan(self, *, dry_run: bool = False, on_progress: Progress | None = None) -> RescanReport:
        """Mask what today's redactors find in what is stored: rows, spool and recall index.

        A memory whose id follows from what was masked moves to the id that it would get today; what names it
        follows. Old versions are purged. A run that was killed can be run again. `dry_run` writes nothing.
        Raises EmbedderUnavailableError, EmbeddingSpaceMismatchError, PluginError (a redactor) and StoreError
        (old versions that are tagged).
        """
        from olav_core.redaction.rescan import rescan

        return rescan(self, dry_run=dry_run, on_progress=on_progress)

    def calibrate(
        self, golden: str | os.PathLike[str] | None = None, *, on_progress: Progress | None = None
    ) -> CalibrationReport:
        """Measure the distance scale and the gates' thresholds on this store; nothing is changed.

        `golden`: a JSONL file of {"query", "relevant": [id]}; without it the memories' own questions are
        asked, which are easier than people's. Raises RecordError when there is nothing to ask.
        """
        from olav_core.calibration.calibrating import calibrate
        from olav_core.calibration.probes import questions_of

        questions = questions_of(self, None if golden is None else Path(golden))
        return calibrate(self._engine.pipeline, self.store, questions, on_progress=on_progress)

    def apply_calibration(self, calibration: Calibration) -> AppliedCalibration:
        """Make a calibration the store's newest and use it from the next recall on; other processes use it
        when they open the store. An older one of `store.calibrations.all()` may be applied again. Raises
        EmbeddingSpaceMismatchError when it was made for another embedder."""
        return self._engine.apply_calibration(calibration)

    def purge_old_spaces(self) -> Sequence[str]:
        """Drop the vectors that `reembed` kept of embedders that were left; return the tables' names."""
        from olav_core.store.reembed import purge

        return purge(self.store)

    def index_coverage(self) -> Coverage:
        """Return how far the recall index is, after bringing it up to date."""
        self.index.sync()
        return self.index.coverage()

    @property
    def index(self) -> RecallIndex:
        """The derived recall index, opened on first use."""
        return self._engine.index

    @property
    def embedder(self) -> EmbedderHandle:
        """The embedder in use."""
        return self._engine.embedder

    @property
    def scale(self) -> DistanceScale | None:
        """The distance scale in force: the store's own, else the embedder's, None when neither has one."""
        return self._engine.pipeline.scale

    def close(self) -> None:
        """Store captured calls, flush the recall log, let go of the index. It is unusable afterwards."""
        if self._captures is not None:
            self._captures.close()
        if self._history is not None:
            self._history.close()
        self._engine.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- the same without blocking the event loop -------------------------------------------------

    arecall = async_twin(recall)
    asearch = async_twin(search)
    acontext = async_twin(context)
    aenrich = async_twin(enrich)
    aremember = async_twin(remember)
    aforget = async_twin(forget)
    aget = async_twin(get)
    alist = async_twin(list)
    acapture = async_twin(capture)

    # --- choices --------------------------------------------------------------------------------

    def _run(self, query: str, *, category: str | None, **options: Any) -> Recall:
        if not isinstance(query, str):
            raise RecordError(f"query must be a string, not {type(query).__name__}.")
        if category is not None:
            self.registry.category(category)
        _check_count("limit", options["limit"])
        return self._engine.recall(query, category=category, **options)

    def scopes_of(self, agent: str) -> tuple[str, ...]:
        """Return the scopes that `agent` recalls from: its own, its teams' and "global"."""
        return scopes_of(agent, self.settings)

    def _scopes(self, agent: str, scopes: Sequence[str] | None) -> tuple[str, ...]:
        return scopes_of(agent, self.settings) if scopes is None else check_scopes(scopes)
