"""People's words in the side tables, as today's redactors leave them: kept queries, and those of thumbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core.store import filters, maintenance, tables

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.redaction.report import RescanReport


def rescan_queries(memory: Memory, report: RescanReport, *, write: bool) -> None:
    """Mask the queries of both tables, then drop the versions that hold what they were."""
    store = memory.store
    if write:
        memory.history.flush()
    for name in {tables.QUERY_LOG, tables.FEEDBACK} & set(tables.table_names(store.database)):
        table = store.side_table(name)
        table.checkout_latest()
        found = tables.retrying(
            lambda table=table: table.search().select(["query"]).to_arrow(),  # type: ignore[misc]
            what=f"reading table {name}",
            refresh=table.checkout_latest,
        )
        words = found.column("query").to_pylist()
        report.queries += len(words)
        for old in sorted({query for query in words if query}):
            new, findings = memory.registry.redact(old)
            if new == old:
                continue
            report.masked_queries += words.count(old)
            report.count({finding.kind: finding.count for finding in findings})
            if write:
                with store.lock.shared():
                    tables.retrying(
                        lambda table=table, old=old, new=new: table.update(  # type: ignore[misc]
                            where=filters.eq("query", old), values={"query": new}
                        ),
                        what=f"masking table {name}",
                        refresh=table.checkout_latest,
                    )
        if write:
            maintenance.purge_side(store, name)
