"""The files of the lexical index: whether they can be trusted, and who may make them anew."""

from __future__ import annotations

import fcntl
import json
import mmap
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOOTER_MAGIC = 1337  # the last four bytes of every segment file that tantivy has finished


class BrokenIndexError(Exception):
    """The index files cannot be read; whoever owns the index rebuilds it from the table."""


@contextmanager
def guarded() -> Iterator[None]:
    """Turn what tantivy raises, a Rust panic too, into BrokenIndexError."""
    try:
        yield
    except Exception as error:
        raise BrokenIndexError(f"tantivy: {error}") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise BrokenIndexError(f"tantivy panicked: {error}") from error
        raise


@contextmanager
def opening(directory: Path | None) -> Iterator[None]:
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


def check_files(directory: Path) -> None:
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
    with path.open("rb") as file:
        if not path.stat().st_size:
            raise BrokenIndexError(f"{path.name} is empty")
        # mapped, not read: the pages go back to the system as soon as they are summed up
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw, memoryview(raw) as view:
            length = int.from_bytes(view[-8:-4], "little")
            if int.from_bytes(view[-4:], "little") != _FOOTER_MAGIC or length > len(view) - 8:
                raise BrokenIndexError(f"{path.name} is cut short")
            footer = json.loads(bytes(view[-8 - length : -8]))
            with view[: -8 - length] as body:
                if zlib.crc32(body) != footer["crc"]:
                    raise BrokenIndexError(f"{path.name} is damaged")
