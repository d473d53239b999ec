"""The error tree. Every message says what happened, to which thing, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class OlavError(Exception):
    """Base of everything that olav_core raises on purpose."""


class ConfigError(OlavError):
    """A setting in `.olav/config.yaml` or an `OLAV_*` variable is wrong."""


class WorkspaceError(OlavError):
    """There is no workspace here, or it cannot be read or written."""


class PluginError(OlavError):
    """A plug-in could not be loaded, or one of its specs is invalid; carries every fault that was found."""

    def __init__(self, message: str, faults: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class UnknownIdError(OlavError):
    """An id (category, embedder, ranker, gate …) that nothing registered."""


class RecordError(OlavError):
    """A memory that may not be stored as it is: bad scope, metadata, text or origin."""


class ErasedTextError(RecordError):
    """The text was erased before (`forget`) and may not come back by itself."""


class CaptureError(OlavError):
    """A tool call could not be acknowledged: the spool is full, or cannot be written."""


class ImportFaultsError(OlavError):
    """One or more files of an import are invalid; carries every fault of every file."""

    def __init__(self, message: str, faults: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class PackageError(OlavError):
    """An agent's folder, a zip or a bundle that is refused; nothing of it was installed."""


class StoreError(OlavError):
    """The store cannot be opened, read or written."""


class ConflictError(StoreError):
    """Commits by others kept winning until the bounded retries ran out; the message says what is missing."""


class EmbedderError(OlavError):
    """An embedder failed or returned something that is not a usable vector."""


class EmbedderUnavailableError(EmbedderError):
    """The embedder cannot be reached or its model file is missing; the store is unharmed."""


class ChatError(OlavError):
    """A chat model refused a request, or answered something that is no chat answer."""


class ChatUnavailableError(ChatError):
    """The chat model cannot be reached, refuses the key or is not there; what was to be learnt waits."""


class EmbeddingSpaceMismatchError(StoreError):
    """The configured embedder lives in another space than the stored vectors."""


class EmbeddingDimMismatchError(EmbeddingSpaceMismatchError):
    """The configured embedder's dimension differs from the stored vectors'."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` for a near miss, plus the known names; both empty if there are none."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"{hint} Known: {', '.join(names) or 'none'}."
