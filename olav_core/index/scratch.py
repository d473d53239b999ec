"""A nameless file: nobody else's, and gone with the process, however that ends."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO


def scratch_file(directory: Path | None) -> IO[bytes]:
    """Return an empty file in `directory` (None: where the system keeps temporary files), open to read and
    write. Raises OSError."""
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryFile(dir=directory, prefix="olav-index-")
