"""Folders and zips of strangers: copied into a fresh folder within bounds, or refused whole."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from olav_core.errors import PackageError

#: Of one package. A team's guides, formats and references are far below; a bomb is far above.
MAX_FILES: Final = 2_000
MAX_BYTES: Final = 32 * 1024 * 1024
MAX_DEPTH: Final = 12
#: Text packs to a fifth or a tenth; deflate's own limit is about 1,000.
MAX_RATIO: Final = 100
#: Below this size a file may pack as well as it likes.
RATIO_FROM: Final = 256 * 1024
_CHUNK = 64 * 1024
_DRIVE = re.compile(r"\A[A-Za-z]:")


def unpack(source: Path, target: Path) -> Path:
    """Copy the folder, or extract the zip, `source` into the new folder `target`.

    Returns `target`, or the folder in it that a zip wraps everything in. Hidden files are left out. Raises
    PackageError for links, devices, names that leave the folder, and more than MAX_FILES, MAX_BYTES or
    MAX_RATIO; what was written so far is the caller's to delete.
    """
    target.mkdir(parents=True)
    if source.is_dir():
        _copy(source, target)
        return target
    if not source.exists():
        raise PackageError(f"There is no folder or zip {source}. Check the path; nothing was installed.")
    if not source.is_file() or not zipfile.is_zipfile(source):  # a pipe or a device has no end
        raise PackageError(f"{source} is neither a folder nor a zip. Nothing was installed.")
    try:
        with zipfile.ZipFile(source) as archive:
            _extract(archive, source.name, target)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError) as error:
        raise PackageError(f"{source} is a damaged zip: {error}. Make it again.") from error
    except RuntimeError as error:  # what zipfile says of a password
        raise PackageError(f"{source} cannot be read: {error}. Make it without a password.") from error
    inside = list(target.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else target


def name_fault(name: str) -> str:
    """Return what is wrong with a file's name in an archive, empty when it stays in its folder."""
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "is an absolute path"
    parts = name.rstrip("/").split("/")
    if ".." in parts:
        return "leads out of the folder"
    if "\\" in name or not name.isprintable():
        return "holds a backslash or a control character"
    if any(part in ("", ".") or part != part.strip() for part in parts):
        return "has an empty part, or blanks at the edge of one"
    if len(parts) > MAX_DEPTH or any(len(part.encode("utf-8", "surrogatepass")) > 255 for part in parts):
        return f"is deeper than {MAX_DEPTH} folders, or has a part of more than 255 bytes"
    return ""


def _extract(archive: zipfile.ZipFile, label: str, target: Path) -> None:
    entries = archive.infolist()
    if len(entries) > 2 * MAX_FILES:
        raise PackageError(f"{label} has {len(entries):,} entries, the limit is {MAX_FILES:,} files.")
    files, seen, total = [], set(), 0
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)
        # The name as the zip holds it: zipfile cuts it at a NUL and turns other separators round.
        if fault := name_fault(entry.orig_filename) or name_fault(entry.filename):
            raise PackageError(f"{label}: {entry.orig_filename!r} {fault}. Nothing was installed.")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            what = "a link" if kind == stat.S_IFLNK else "no plain file"
            raise PackageError(f"{label}: {entry.filename!r} is {what}. Nothing was installed.")
        if entry.is_dir():
            continue
        key = unicodedata.normalize("NFC", entry.filename).casefold()
        if key in seen:
            raise PackageError(f"{label}: {entry.filename!r} comes twice, perhaps in another spelling.")
        seen.add(key)
        total += entry.file_size
        packed = entry.file_size / max(entry.compress_size, 1)
        if entry.file_size > RATIO_FROM and packed > MAX_RATIO:
            raise PackageError(
                f"{label}: {entry.filename!r} unpacks to {packed:,.0f} times its size: refused."
            )
        if not _is_hidden(PurePosixPath(entry.filename)):
            files.append(entry)
    _check_totals(label, len(seen), total)
    for entry in files:
        place = target / entry.filename
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as packed_file, place.open("xb") as out:
                left = entry.file_size  # what the entry declared; zipfile reads no further
                while chunk := packed_file.read(_CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise PackageError(f"{label}: {entry.filename!r} is larger than it says: refused.")
                    out.write(chunk)
        except (FileExistsError, NotADirectoryError) as error:
            raise PackageError(f"{label}: {entry.filename!r} is a file and a folder at once.") from error


def _copy(source: Path, target: Path) -> None:
    total = 0
    for count, path in enumerate(_files(source), start=1):
        name = path.relative_to(source).as_posix()
        if fault := name_fault(name):
            raise PackageError(f"{source}: {name!r} {fault}. Nothing was installed.")
        total += path.lstat().st_size
        _check_totals(str(source), count, total)
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())


def _files(source: Path) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        raise PackageError(f"{error.filename} cannot be read: {error.strerror}.") from error

    for folder, names, files in os.walk(source, onerror=failed):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in (*names, *sorted(file for file in files if not file.startswith("."))):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                raise PackageError(f"{path} is a link. Put the file itself there; nothing was installed.")
            if stat.S_ISREG(mode):
                yield path
            elif not stat.S_ISDIR(mode):
                raise PackageError(f"{path} is no plain file. Take it out; nothing was installed.")


def _check_totals(label: str, count: int, total: int) -> None:
    if count > MAX_FILES:
        raise PackageError(f"{label} has more than {MAX_FILES:,} files. Nothing was installed.")
    if total > MAX_BYTES:
        raise PackageError(f"{label} holds more than {MAX_BYTES:,} bytes unpacked. Nothing was installed.")


def _is_hidden(name: PurePosixPath) -> bool:
    return any(part.startswith(".") for part in name.parts) or name.parts[0] == "__MACOSX"
