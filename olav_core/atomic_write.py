"""Files written in one step: whoever reads one sees the old content or the new, never half of it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_atomically(
    path: Path, content: bytes | str, *, mode: int | None = None, exclusive: bool = False
) -> None:
    """Write a whole file as `replacing` does; text is written as UTF-8, its line ends as they are."""
    with replacing(path, mode=mode, exclusive=exclusive) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path, *, mode: int | None = None, exclusive: bool = False) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` when the block ends without an exception.

    Until then it lies beside `path` as `.<name>.<pid>.<random>.new`, and is gone when the block raises or the
    disk is full; only a process killed on the way leaves one. Content and name are on disk (fsync) when this
    returns. Its permission bits are `mode`, else those of the file that it replaces, else what the umask
    leaves. A symbolic link is itself replaced, not what it names. The folder must exist.

    `exclusive` makes a file and never replaces one: of several processes one wins, the others get
    FileExistsError. Raises OSError, also for what is no file (a device, a pipe, a folder).
    """
    bits = _bits_of(path)
    if mode is not None:
        bits = mode
    name = f".{path.name[:60]}.{os.getpid()}.{secrets.token_hex(4)}.new"  # 60 × 4 bytes of UTF-8 fit in 255
    fresh = path.with_name(name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(fresh, flags, 0o666 if bits is None else bits)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if bits is not None:
                os.fchmod(descriptor, bits)
            yield file
            file.flush()
            os.fsync(descriptor)
        if exclusive:
            _create(fresh, path)
        else:
            os.replace(fresh, path)
    finally:
        with suppress(OSError):
            fresh.unlink()
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _bits_of(path: Path) -> int | None:
    """The permission bits of the file that is there; None when there is none."""
    try:
        told = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(told.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(told.st_mode):  # replaced, /dev/null would be an ordinary file for everybody
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return stat.S_IMODE(told.st_mode)


def _create(fresh: Path, path: Path) -> None:
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path)) from None
        os.replace(fresh, path)
