"""How a draft of a conversation becomes a file that an importer reads; part of its ImporterSpec."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from olav_core.drafts.draft import MemoryDraft


@frozen(kw_only=True)
class DraftFile:
    """The file is `<agent>/<folder>/<intent><suffix>` in the workspace; the importer that brings this makes
    the rows, so that a file from a conversation and one written by hand are the same.

    `suffix`: one of the importer's suffixes, or a function that chooses it by the draft's body.
    `write(draft)` gives the file's text from a draft's intent, agent, scope, keywords and body; without it
    the body is the file. With `whole` the file must make one memory whose text is the body, else the draft is
    refused: a person would be shown another text than the one that is stored.
    """

    folder: str
    suffix: str | Callable[[str], str]
    write: Callable[[MemoryDraft], str] | None = None
    whole: bool = False

    def suffix_for(self, body: str) -> str:
        return self.suffix if isinstance(self.suffix, str) else self.suffix(body)
