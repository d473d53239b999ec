"""LanceDB tables: opening them so that damage shows, and committing so that races are retried."""

from __future__ import annotations

import atexit
import random
import re
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from olav_core.errors import ConflictError, OlavError, StoreError
from olav_core.store.schema import FINGERPRINT_KEY, PRIMARY_KEY, SCHEMA_KEY, SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
MEMORY = "memory"
RECALL_LOG = "recall_log"
TOMBSTONE = "tombstone"
#: There is none until `recall.log_queries` is on, and until somebody gives a thumb.
QUERY_LOG = "query_log"
FEEDBACK = "feedback"
#: There is none until `olav calibrate --apply`.
CALIBRATION = "calibration"
#: Tables of vectors by row revision, one for each space that a re-embed goes to or left.
VECTORS_PREFIX = "vectors_"
ATTEMPTS = 12
#: Seconds: the longest wait before attempt n is the base doubled n times, never above the cap.
BACKOFF_BASE, BACKOFF_CAP = 0.01, 1.0
#: Stable row ids are what makes `_row_last_updated_at_version` (changed rows by version) work.
STABLE_ROW_IDS = {"new_table_enable_stable_row_ids": "true"}
#: How the engine words a lost race: a commit that came second, or a clean-up that removed the version in use.
_LOST_RACE = re.compile(
    r"commit conflict|concurrent|too much contention|not found: .*(manifest|\.lance|\.arrow)", re.I
)

#: Seconds that the engine's threads get at the interpreter's exit.
SETTLE_SECONDS = 0.05


@atexit.register  # here, before the modules that flush at exit are imported: so it runs after them
def _let_the_engine_settle() -> None:
    """A thread of the engine that still hands back a result while the interpreter ends aborts the process."""
    if "lancedb" in sys.modules:
        time.sleep(SETTLE_SECONDS)


def connect(uri: str, storage_options: Mapping[str, str] | None = None) -> Any:
    """Connect to the LanceDB database at `uri` (a directory or any URI that LanceDB takes)."""
    import lancedb

    try:
        return lancedb.connect(uri, storage_options=dict(storage_options) if storage_options else None)
    except Exception as error:
        raise StoreError(
            f"the database {uri} cannot be reached: {error}. Check `store.uri` and its options."
        ) from error


def table_names(database: Any) -> list[str]:
    """Every table that the database lists, readable or not."""
    names: list[str] = []
    token = None
    while True:
        page = database.list_tables(page_token=token)
        names.extend(page.tables)
        token = page.page_token
        if not token:
            return names


def create(database: Any, name: str, schema: pa.Schema) -> Any:
    """Create an empty table with stable row ids; an existing one is an error of the engine, never emptied."""
    try:
        return database.create_table(name, schema=schema, storage_options=STABLE_ROW_IDS)
    except Exception as error:
        raise StoreError(
            f"table {name!r} cannot be created: {_short(error)}. Check the disk's space and rights."
        ) from error


def open_if_whole(database: Any, name: str) -> Any:
    """Open a table of vectors; None when only remains of it lie there, as after a kill amid its deletion.

    Such a table is listed, and either cannot be opened or lacks files: its column `revision` is read to tell.
    What it held is derived. Raises StoreError for any other failure.
    """
    try:
        table = database.open_table(name)
        table.search().select(["revision"]).to_arrow()
    except Exception as error:
        if "not found" in str(error).lower():
            return None
        raise StoreError(
            f"side table {name} cannot be read: {_short(error)}. Check its rights and the disk."
        ) from error
    return table


def open_memory(database: Any, uri: str) -> Any:
    """Open table `memory`; StoreError says what is wrong with it. Never creates anything."""
    try:
        table = database.open_table(MEMORY)
        schema = table.schema
    except Exception as error:
        if MEMORY in table_names(database):
            raise StoreError(
                f"table 'memory' in {uri} is listed but cannot be read ({_short(error)}): files are "
                "missing, as after a crash or a partial copy. Nothing was changed. Restore the directory "
                f"from a backup; to start over, move {uri} away and run `olav init`."
            ) from error
        if "not found" not in str(error):
            raise StoreError(
                f"{uri} cannot be opened: {_short(error)}. Check the path, its rights and options."
            ) from error
        raise StoreError(
            f"there is no memory table in {uri}. Run `olav init` to create a store, or fix `store.uri` in "
            ".olav/config.yaml if there should be one."
        ) from None
    metadata = schema.metadata or {}
    if (
        FINGERPRINT_KEY not in metadata
        or not PRIMARY_KEY.items() <= (schema.field("id").metadata or {}).items()
    ):
        raise StoreError(
            f"table 'memory' in {uri} has no embedding fingerprint or no primary key: olav-core did not "
            "create it. Point `store.uri` at another directory; bring its rows in with `olav kb import`."
        )
    if int(metadata.get(SCHEMA_KEY, b"1")) > SCHEMA_VERSION:
        raise StoreError(
            f"{uri} was written by a newer olav-core (schema {int(metadata[SCHEMA_KEY])}, this one reads "
            f"{SCHEMA_VERSION}). Run `pip install -U olav-core`."
        )
    return table


def retrying(action: Callable[[], T], *, what: str, refresh: Callable[[], object] | None = None) -> T:
    """Run `action`, again after a lost race; at most ATTEMPTS times, with jittered growing waits.

    Raises ConflictError when the races never stop, StoreError for any other failure of the engine.
    """
    for attempt in range(ATTEMPTS):
        try:
            return action()
        except Exception as error:
            lost_race(error, what)
            if attempt == ATTEMPTS - 1:
                raise gave_up(error, what) from error
        pause(attempt)
        if refresh is not None:
            refresh()
    raise AssertionError("unreachable")


def delete(table: Any, where: str, what: str) -> int:
    """Delete the rows that pass `where`, as of now; returns how many.

    Its caller holds the store's lock, so that no version is cleaned up under the delete.
    """

    def attempt() -> int:
        table.checkout_latest()
        return int(table.delete(where).num_deleted_rows)

    return retrying(attempt, what=what)


def gave_up(error: Exception, what: str) -> ConflictError:
    """Return the error for a race that was lost too often, or a file that is not there to be waited for."""
    if "not found" in str(error).lower():
        return ConflictError(
            f"{what} failed: a file is missing ({_short(error)}). If no other process is cleaning up, it is "
            "lost: `olav doctor` tells what is damaged."
        )
    return ConflictError(
        f"{what} lost {ATTEMPTS} races in a row ({_short(error)}). Try again, or let fewer processes write."
    )


def lost_race(error: Exception, what: str) -> None:
    """Return if `error` is a race that trying again can win; otherwise raise it, as StoreError."""
    if isinstance(error, OlavError):
        raise error
    if not _LOST_RACE.search(str(error)):
        raise StoreError(f"{what} failed: {_short(error)}. Nothing of it was acknowledged.") from error


def pause(attempt: int) -> None:
    """Wait before the next attempt: a random time up to a bound that doubles."""
    time.sleep(random.random() * min(BACKOFF_CAP, BACKOFF_BASE * 2**attempt))


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
