"""The export: every row of a store as JSON lines, whatever plug-in its category has or lacks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olav_core import clock
from olav_core.atomic_write import replacing
from olav_core.errors import WorkspaceError
from olav_core.importing.exported_row import END, FORMAT, HEADER, VECTOR, to_line

if TYPE_CHECKING:
    from olav_core.memory import Memory


def export_memories(
    memory: Memory,
    path: str | os.PathLike[str],
    *,
    category: str | None = None,
    scopes: Sequence[str] | None = None,
    vectors: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write the rows of every category and scope, or of those named, to a JSON lines file; return how many.

    `vectors` adds each row's vector, so that an import into a store of the same embedding space embeds
    nothing. The rows are those of one moment, streamed; the file appears when it is complete, readable by
    its owner alone, and replaces an older one. Texts that were forgotten are not in it.

    Raises WorkspaceError when the file cannot be written, StoreError for a broken store. Works under an
    embedder that is not the store's.
    """
    from olav_core.store import filters, schema

    target = Path(path)
    store = memory.store
    store.flush()
    store.fold_access_counts()
    where = filters.all_of(
        None if category is None else filters.eq("category", category),
        None if scopes is None else filters.in_("scope", scopes),
    )
    store.refresh()
    total = int(store.table.count_rows(where))
    header = {
        HEADER: FORMAT,
        "created": clock.now().isoformat(),
        "fingerprint": json.loads(store.fingerprint),
        "category": category,
        "scopes": None if scopes is None else list(scopes),
        "vectors": vectors,
    }
    columns = [*schema.SHOWN, *([VECTOR] if vectors else [])]
    done = 0
    try:
        with replacing(target, mode=0o600) as file:
            file.write(f"{json.dumps(header, ensure_ascii=False)}\n".encode())
            for batch in store.batches(columns, where):
                matrix: Any = schema.matrix(batch.column(VECTOR)) if vectors else [None] * batch.num_rows
                for record, vector in zip(schema.decode(batch), matrix, strict=True):
                    file.write(f"{to_line(record, vector)}\n".encode())
                done += batch.num_rows
                if on_progress is not None:
                    on_progress(done, max(done, total))
            file.write(f"{json.dumps({END: done})}\n".encode())
    except OSError as error:
        raise WorkspaceError(f"{target} cannot be written: {error.strerror}. Name another file.") from error
    return done
