"""The key of the marks' hashes: random, made once per user, outside every workspace.

Outside, so that a copied, exported or shared store never carries the key that its marks were made with.
"""

from __future__ import annotations

import os
import secrets
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from olav_core import write_atomically

#: Names the key file; a team that shares one store shares this file to see equal marks.
VARIABLE = "OLAV_REDACTION_KEY_FILE"
KEY_BYTES = 32


def key_path() -> Path:
    """Return OLAV_REDACTION_KEY_FILE, or `olav/redaction.key` in XDG_CONFIG_HOME, or in ~/.config."""
    seen = os.environ.get
    return _path(seen(VARIABLE), seen("XDG_CONFIG_HOME"), seen("HOME") or seen("USERPROFILE"))


@cache
def _path(named: str | None, config: str | None, home: str | None) -> Path:
    """Return the path for these variables, built once: every mark asks for it."""
    del home  # what ~ stands for
    if named:
        return Path(named).expanduser()
    return Path(config or "~/.config").expanduser() / "olav" / "redaction.key"


def hash_key() -> bytes:
    """Return the key, making its file (mode 0600) the first time.

    Where the file can be neither read nor made, the key lives as long as the process and a warning says
    so: redaction goes on, only marks of different runs no longer compare.
    """
    return _key_of(str(key_path()))


@cache
def _key_of(path: str) -> bytes:
    try:
        try:
            return _read(Path(path))
        except FileNotFoundError:
            return _create(Path(path))
    except (OSError, ValueError) as error:
        warnings.warn(
            f"The key of the redaction marks cannot be kept in {path} ({error}). Marks of this run compare "
            f"only with each other; name a file that can be written in {VARIABLE}.",
            stacklevel=2,
        )
        return secrets.token_bytes(KEY_BYTES)


def _read(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) < KEY_BYTES:
        raise ValueError(f"it holds {len(key)} bytes instead of {KEY_BYTES}")
    return key[:KEY_BYTES]


def _create(path: Path) -> bytes:
    """Make the file, whole: of several processes one wins, the others read its key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        write_atomically(path, secrets.token_bytes(KEY_BYTES), mode=0o600, exclusive=True)
    return _read(path)
