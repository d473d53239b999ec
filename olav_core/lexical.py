"""The lexical index: BM25 over tantivy in a directory that may be deleted at any time."""

from __future__ import annotations

import fcntl
import json
import shutil
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core.analyzer import ANALYZER_VERSION
from olav_core.pending import K1, CorpusStats, LexicalRow, idf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Raise it when the fields or the stamp change.
FORMAT_VERSION = 1
#: Hits per search; beyond them a row's lexical score counts as 0 (5,000 hits cost 2 ms at 100k rows).
MAX_HITS = 2_000

_STAMP = "\x01stamp"  # a body term that the analyzer cannot give
_STAMP_ROW = 2**63
_WRITER_BYTES = 50_000_000  # tantivy flushes a segment when this is full; below 15 MB it refuses
_FOOTER_MAGIC = 1337


class BrokenIndexError(Exception):
    """The index files cannot be read; whoever owns the index rebuilds it from the table."""


@frozen
class LexicalSnapshot:
    """One committed state of the index: stays readable and unchanged while others commit."""

    searcher: Any
    schema: Any
    stats: CorpusStats
    covered: int

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return the number of committed documents that hold each term."""
        with _guard():
            return {term: self.searcher.doc_freq("body", term) for term in terms}

    def search(
        self,
        terms: Mapping[str, int],
        *,
        frequencies: Mapping[str, int],
        scopes: Collection[str] | None = None,
        categories: Collection[str] | None = None,
        limit: int = MAX_HITS,
    ) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Return (row ids, scores in [0, 1]) of the best `limit` rows, best first.

        `terms` maps a term to its count in the query. Score = BM25 / (total idf * (k1 + 1)): the total runs
        over ALL query terms, those that no row holds too (at frequency 0), so a query that the store knows
        little of scores low; k1 + 1 is the most that one term's tf part reaches.
        """
        import numpy as np
        from tantivy import Occur, Query

        known = {term: weight for term, weight in terms.items() if frequencies.get(term)}
        if not known or (scopes is not None and not scopes) or (categories is not None and not categories):
            return np.empty(0, np.uint64), np.empty(0, np.float32)
        with _guard():
            parts = []
            for term, weight in known.items():
                part = Query.term_query(self.schema, "body", term, index_option="freq")
                parts.append((Occur.Should, part if weight == 1 else Query.boost_query(part, float(weight))))
            clauses = [(Occur.Must, Query.boolean_query(parts))]
            for name, values in (("scope", scopes), ("category", categories)):
                if values is not None:
                    clean = [_clean(value) for value in values]
                    chosen = Query.term_set_query(self.schema, name, clean)
                    clauses.append((Occur.Must, Query.const_score_query(chosen, 0.0)))
            query = Query.boolean_query(clauses) if len(clauses) > 1 else clauses[0][1]
            hits = self.searcher.search(query, limit, count=False).hits
            ids = self.searcher.fast_field_values("row", [address for _, address in hits])
        scores = np.fromiter((score for score, _ in hits), dtype=np.float32, count=len(hits))
        total = sum(weight * idf(self.stats.documents, frequencies.get(t, 0)) for t, weight in terms.items())
        return np.array(ids, dtype=np.uint64), scores / np.float32(total * (K1 + 1))

    def entries(self, rowids: Collection[int] | None = None) -> dict[int, int]:
        """Return {row id: digest} of every committed row, or of those asked for."""
        from tantivy import Query

        with _guard():
            if rowids is None:
                query = Query.all_query()
            elif rowids:
                query = Query.term_set_query(self.schema, "row", list(rowids))
            else:
                return {}
            hits = self.searcher.search(query, max(self.searcher.num_docs, 1), count=False).hits
            addresses = [address for _, address in hits]
            ids = self.searcher.fast_field_values("row", addresses)
            digests = self.searcher.fast_field_values("digest", addresses)
        return {row: digest for row, digest in zip(ids, digests, strict=True) if row != _STAMP_ROW}


class LexicalIndex:
    """BM25 over tantivy. One writer per directory; any number of readers, in any number of processes.

    Fields: row (the table's row id), digest (of text, scope and category), body (analyzed terms), scope and
    category (exact). A stamp document names format, analyzer and table, and the table version that is
    covered; it is replaced in the same commit. `directory=None` keeps the index in memory.
    """

    def __init__(self, directory: Path | None, identity: str) -> None:
        self.directory = directory
        self.identity = identity
        #: Why the index on disk was not used; empty when it was, or when there was none.
        self.rebuilt = ""
        #: The directory cannot be written, so the index lives in memory.
        self.in_memory = directory is None
        #: The directory can be read but not written, so nothing is folded in.
        self.read_only = False
        self._schema = _schema()
        with _opening(directory):
            self._index = self._open()
        self.snapshot = self._snapshot()

    def reload(self) -> None:
        """Take in what other writers committed. Raises BrokenIndexError."""
        if not self.in_memory and not (self._path / "meta.json").is_file():
            raise BrokenIndexError("the index directory is gone")
        with _guard():
            self._index.reload()
        snapshot = self._snapshot()
        if not self.in_memory and snapshot.covered < 0 and snapshot.searcher.num_docs:
            raise BrokenIndexError("the stamp is missing or another table's")
        self.snapshot = snapshot

    def writer(self) -> LexicalWriter | None:
        """Return the writer, or None while another one holds it or the directory cannot be written."""
        try:
            with _guard():
                writer = self._index.writer(_WRITER_BYTES, 1)
        except BrokenIndexError as error:
            self.read_only = "LockBusy" not in str(error)
            return None
        return LexicalWriter(self, writer)

    def apply(self, upserts: Iterable[LexicalRow], deletes: Collection[int], version: int) -> bool:
        """Commit rows, deletions and the covered version in one go; False when the writer is taken."""
        writer = self.writer()
        if writer is None:
            return False
        writer.put(upserts)
        writer.delete(deletes)
        writer.commit(version)
        return True

    def reset(self, reason: str) -> None:
        """Start over with an empty index; in memory when the directory cannot be written."""
        self.rebuilt = reason
        with _opening(self.directory):
            self._index = self._create()
        self.snapshot = self._snapshot()

    @property
    def _path(self) -> Path:
        assert self.directory is not None
        return self.directory

    def _open(self) -> Any:
        if self.directory is None or not (self.directory / "meta.json").is_file():
            return self._create()
        try:
            import tantivy

            _check_files(self.directory)
            with _guard():
                index = tantivy.Index(self._schema, path=str(self.directory))
                index.config_reader("manual")
                index.reload()
            self._index = index
            snapshot = self._snapshot()
            if snapshot.covered < 0 and snapshot.searcher.num_docs:
                raise BrokenIndexError("its stamp is missing, or of another table, analyzer or format")
        except BrokenIndexError as error:
            self.rebuilt = str(error)
            return self._create()
        return index

    def _create(self) -> Any:
        import tantivy

        if self.directory is not None:
            try:
                shutil.rmtree(self.directory, ignore_errors=True)
                self.directory.mkdir(parents=True, exist_ok=True)
                if (self.directory / "meta.json").exists():
                    raise OSError(f"{self.directory} cannot be emptied")
                with _guard():
                    index = tantivy.Index(self._schema, path=str(self.directory))
                    index.config_reader("manual")
                self.in_memory = False
                return index
            except (OSError, BrokenIndexError) as error:
                self.rebuilt = f"kept in memory: {error}"
        self.in_memory = True
        index = tantivy.Index(self._schema)
        index.config_reader("manual")
        return index

    def _snapshot(self) -> LexicalSnapshot:
        """Return the current state; covered is -1 without a valid stamp."""
        from tantivy import Query

        with _guard():
            searcher = self._index.searcher()
            query = Query.term_query(self._schema, "body", _STAMP, index_option="freq")
            hits = searcher.search(query, 1, count=False).hits
            if not hits:
                return LexicalSnapshot(searcher, self._schema, CorpusStats(), -1)
            stats = _stats(query.explain(searcher, hits[0][1]).to_json())
            stamp = searcher.doc(hits[0][1]).get_first("stamp")
        covered = -1
        try:
            found = json.loads(stamp)
            if [found["format"], found["analyzer"], found["table"]] == self._stamp_key():
                covered = int(found["version"])
        except (TypeError, ValueError, KeyError):
            pass
        return LexicalSnapshot(searcher, self._schema, stats, covered)

    def _stamp_key(self) -> list[Any]:
        return [FORMAT_VERSION, ANALYZER_VERSION, self.identity]

    def stamp(self, version: int) -> str:
        """Return the stamp document's text for a covered table version."""
        return json.dumps(
            dict(zip(("format", "analyzer", "table"), self._stamp_key(), strict=True), version=version)
        )


class LexicalWriter:
    """The one writer: rows go in, then `commit` makes them and the stamp visible together, or `abandon`."""

    def __init__(self, index: LexicalIndex, writer: Any) -> None:
        self._index = index
        self._writer = writer

    def put(self, rows: Iterable[LexicalRow], *, fresh: bool = False) -> None:
        """Add rows, replacing committed ones; `fresh` promises that there are none to replace."""
        import tantivy

        items = list(rows)
        if not fresh:
            self.delete([row.rowid for row in items])
        with _guard():
            for row in items:
                document = tantivy.Document(
                    body=" ".join(row.terms), scope=_clean(row.scope), category=_clean(row.category)
                )
                document.add_unsigned("row", row.rowid)
                document.add_unsigned("digest", row.digest)
                self._writer.add_document(document)

    def delete(self, rowids: Collection[int]) -> None:
        """Remove rows; unknown ids are no error."""
        from tantivy import Query

        if not rowids:
            return
        with _guard():  # delete_documents_by_term types an int as signed and finds no unsigned row
            self._writer.delete_documents_by_query(
                Query.term_set_query(self._index._schema, "row", list(rowids))
            )

    def commit(self, version: int) -> None:
        """Commit with the stamp, let merges finish, release the writer and load the new state."""
        import tantivy
        from tantivy import Query

        with _guard():
            old = Query.term_query(self._index._schema, "body", _STAMP, index_option="freq")
            self._writer.delete_documents_by_query(old)
            document = tantivy.Document(body=_STAMP, stamp=self._index.stamp(version))
            document.add_unsigned("row", _STAMP_ROW)
            document.add_unsigned("digest", 0)
            self._writer.add_document(document)
            self._writer.commit()
            self._writer.wait_merging_threads()
        self._index.reload()

    def abandon(self) -> None:
        """Release the writer without a commit."""
        with _guard():
            self._writer.rollback()
            self._writer.wait_merging_threads()


@contextmanager
def _opening(directory: Path | None) -> Iterator[None]:
    """Let one process at a time decide whether to open or to empty the directory; none when it is
    read-only.
    """
    if directory is None:
        yield
        return
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        handle = (directory.parent / f".{directory.name}.lock").open("ab")
    except OSError:
        yield
        return
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def _guard() -> Iterator[None]:
    """Turn what tantivy raises, a Rust panic too, into BrokenIndexError."""
    try:
        yield
    except Exception as error:
        raise BrokenIndexError(f"tantivy: {error}") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise BrokenIndexError(f"tantivy panicked: {error}") from error
        raise


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", indexed=True, fast=True)
    builder.add_unsigned_field("digest", fast=True)
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("scope", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("category", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("stamp", stored=True, tokenizer_name="raw", index_option="basic")
    return builder.build()


def _stats(explanation: str) -> CorpusStats:
    """Read N and the mean length out of tantivy's own explanation: its API shows them nowhere else."""
    found: dict[str, float] = {}

    def walk(node: Mapping[str, Any]) -> None:
        found[node["description"].partition(",")[0]] = node["value"]
        for child in node.get("details") or ():
            walk(child)

    walk(json.loads(explanation))
    return CorpusStats(documents=found["N"], mean_length=found["avgdl"])


def _clean(value: str) -> str:
    return value.encode("utf-8", "replace").decode("utf-8")


def _check_files(directory: Path) -> None:
    """Verify every segment file against the CRC in its footer (100 MB take about 0.1 s).

    tantivy opens a garbled file without complaint and may panic, or answer nonsense, much later.
    """
    for attempt in range(3):
        try:
            meta = json.loads((directory / "meta.json").read_text("utf-8"))
            segments = {str(s["segment_id"]).replace("-", "") for s in meta["segments"]}
            deletes = {str((s["deletes"] or {}).get("opstamp")) for s in meta["segments"]}
            for path in directory.iterdir():
                segment, _, kind = path.name.partition(".")
                # other `.del` files belong to commits that are still being written or are gone already
                if segment in segments and (not kind.endswith("del") or kind.split(".")[0] in deletes):
                    _check_file(path)
        except FileNotFoundError as error:  # another process merged segments meanwhile
            if attempt == 2:
                raise BrokenIndexError(f"its files vanish: {error}") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BrokenIndexError(f"it cannot be read: {error}") from error
        else:
            return


def _check_file(path: Path) -> None:
    raw = memoryview(path.read_bytes())
    length = int.from_bytes(raw[-8:-4], "little") if len(raw) > 8 else 0
    if len(raw) < 8 or int.from_bytes(raw[-4:], "little") != _FOOTER_MAGIC or length > len(raw) - 8:
        raise BrokenIndexError(f"{path.name} is cut short")
    footer = json.loads(bytes(raw[-8 - length : -8]))
    if zlib.crc32(raw[: -8 - length]) != footer["crc"]:
        raise BrokenIndexError(f"{path.name} is damaged")
