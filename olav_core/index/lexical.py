"""The lexical index: BM25 over tantivy in a directory that may be deleted at any time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from olav_core.index.index_files import BrokenIndexError, check_files, guarded, opening
from olav_core.index.lexical_snapshot import STAMP_ROW, LexicalSnapshot, storable
from olav_core.index.pending import CorpusStats, LexicalRow
from olav_core.text.analyzer import ANALYZER_VERSION

#: Raise it when the fields or the stamp change.
FORMAT_VERSION = 1
_STAMP = "\x01stamp"  # a body term that the analyzer cannot give
_WRITER_BYTES = 50_000_000  # tantivy flushes a segment when this is full; below 15 MB it refuses


class LexicalIndex:
    """BM25 over tantivy. One writer per directory; any number of readers, in any number of processes.

    Fields: row (the table's row id), digest (of text, scope and category), body (analyzed terms), scope and
    category (exact). A stamp document names format, analyzer and table, and the table version that is
    covered; it is replaced in the same commit. `directory=None` keeps the index in memory.
    """

    def __init__(self, directory: Path | None, identity: str, *, only_read: bool = False) -> None:
        """`only_read` raises BrokenIndexError for an index that would have to be made anew."""
        self.directory = directory
        self.identity = identity
        #: Why the index on disk was not used; empty when it was, or when there was none.
        self.rebuilt = ""
        #: The directory cannot be written, so the index lives in memory.
        self.in_memory = directory is None
        #: The directory can be read but not written, so nothing is folded in.
        self.read_only = False
        self._schema = _schema()
        with opening(None if only_read else directory):
            self._index = self._open(only_read)
        self.snapshot = self._snapshot()

    def reload(self) -> None:
        """Take in what other writers committed. Raises BrokenIndexError."""
        if not self.in_memory and not (self._path / "meta.json").is_file():
            raise BrokenIndexError("the index directory is gone")
        with guarded():
            self._index.reload()
        snapshot = self._snapshot()
        if not self.in_memory and snapshot.covered < 0 and snapshot.searcher.num_docs:
            raise BrokenIndexError("the stamp is missing or another table's")
        self.snapshot = snapshot

    def writer(self) -> LexicalWriter | None:
        """Return the writer, or None while another one holds it or the directory cannot be written."""
        try:
            with guarded():
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

    def reset(self, reason: str, *, in_memory: bool = False) -> None:
        """Start over with an empty index; in memory when asked to or when the directory cannot be written."""
        self.rebuilt = reason
        with opening(self.directory):
            self._index = self._create(in_memory=in_memory)
        self.snapshot = self._snapshot()

    @property
    def _path(self) -> Path:
        assert self.directory is not None
        return self.directory

    def _open(self, only_read: bool) -> Any:
        if self.directory is None or not (self.directory / "meta.json").is_file():
            return self._create()
        try:
            import tantivy

            check_files(self.directory)
            with guarded():
                index = tantivy.Index(self._schema, path=str(self.directory))
                index.config_reader("manual")
                index.reload()
            self._index = index
            snapshot = self._snapshot()
            if snapshot.covered < 0 and snapshot.searcher.num_docs:
                raise BrokenIndexError("its stamp is missing, or of another table, analyzer or format")
        except BrokenIndexError as error:
            if only_read:
                raise
            self.rebuilt = str(error)
            return self._create()
        return index

    def _create(self, *, in_memory: bool = False) -> Any:
        import tantivy

        if self.directory is not None and not in_memory:
            try:
                shutil.rmtree(self.directory, ignore_errors=True)
                self.directory.mkdir(parents=True, exist_ok=True)
                if (self.directory / "meta.json").exists():
                    raise OSError(f"{self.directory} cannot be emptied")
                with guarded():
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

        with guarded():
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
        with guarded():
            for row in items:
                document = tantivy.Document(
                    body=" ".join(row.terms), scope=storable(row.scope), category=storable(row.category)
                )
                document.add_unsigned("row", row.rowid)
                document.add_unsigned("digest", row.digest)
                self._writer.add_document(document)

    def delete(self, rowids: Collection[int]) -> None:
        """Remove rows; unknown ids are no error."""
        from tantivy import Query

        if not rowids:
            return
        with guarded():  # delete_documents_by_term types an int as signed and finds no unsigned row
            self._writer.delete_documents_by_query(
                Query.term_set_query(self._index._schema, "row", list(rowids))
            )

    def commit(self, version: int) -> None:
        """Commit with the stamp, let merges finish, release the writer and load the new state."""
        import tantivy
        from tantivy import Query

        with guarded():
            old = Query.term_query(self._index._schema, "body", _STAMP, index_option="freq")
            self._writer.delete_documents_by_query(old)
            document = tantivy.Document(body=_STAMP, stamp=self._index.stamp(version))
            document.add_unsigned("row", STAMP_ROW)
            document.add_unsigned("digest", 0)
            self._writer.add_document(document)
            self._writer.commit()
            self._writer.wait_merging_threads()
        self._index.reload()

    def abandon(self) -> None:
        """Release the writer without a commit."""
        with guarded():
            self._writer.rollback()
            self._writer.wait_merging_threads()


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
