"""The lexicons in force: those of plug-ins and the workspace's own, read when a query first asks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from olav_core.errors import ConfigError
from olav_core.text.lexicon import Lexicon, Translation
from olav_core.text.lexicon_file import read_folder


class Lexicons:
    """The `*.tsv` of some folders as one lexicon. Thread-safe; read once."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._lock = Lock()
        self._made: Lexicon | ConfigError | None = None

    def translate(self, text: str) -> Translation:
        """Return the concepts of `text`. Raises ConfigError that names file and line of a faulty lexicon."""
        made = self._made
        if made is None:
            with self._lock:
                made = self._made = self._made or self._read()
        if isinstance(made, ConfigError):
            raise ConfigError(*made.args)
        return made.translate(text)

    def _read(self) -> Lexicon | ConfigError:
        try:
            return Lexicon(line for folder in self._folders for line in read_folder(folder))
        except ConfigError as error:
            return error
