"""An importer: files read into drafts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from olav_core.specs.draft import Draft
from olav_core.specs.fault import Fault

if TYPE_CHECKING:
    from olav_core.drafts.draft_file import DraftFile
    from olav_core.memory import Memory


@frozen(kw_only=True)
class ImporterSpec:
    """Reads files into drafts. `parse(root, path, raw)` returns (drafts, faults) for one file's bytes and
    never raises for bad content. `suffixes` are matched against the end of the file name.

    `also` names the other categories that its files bring; where one is not installed, its drafts are left
    out. With `opens_path`, `parse` gets no bytes and opens `path` itself, for files too large to hold; it may
    raise OSError. A draft without a scope gets that of the import. `directive`: its files tell agents what to
    do, so `olav init` and the installation of agents and bundles bring them.

    `refiner(memory, ask)`, called once for an import, returns a function from the drafts of one file, which
    know their place, to better ones, such as a summary by the configured chat model. With `ask` false (a dry
    run) it asks nobody. The same files again must give the same drafts, or every import would write.

    `draft_file`: how a draft of a conversation becomes such a file, once a person has said yes to it; without
    it a draft of this category is a row.
    """

    id: str
    purpose: str
    suffixes: tuple[str, ...]
    parse: Callable[[Path, Path, bytes], tuple[Sequence[Draft], Sequence[Fault]]]
    category: str
    also: tuple[str, ...] = ()
    opens_path: bool = False
    directive: bool = False
    refiner: Callable[[Memory, bool], Callable[[Sequence[Draft]], Sequence[Draft]]] | None = None
    draft_file: DraftFile | None = None
