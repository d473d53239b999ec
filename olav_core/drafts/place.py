"""Where the file of a draft goes, and what it holds, as its importer says. Without one it is a row."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from attrs import evolve

from olav_core.errors import OlavError, PluginError

if TYPE_CHECKING:
    from olav_core.drafts.draft import MemoryDraft
    from olav_core.host.registry import Registry
    from olav_core.specs import ImporterSpec


def file_importer(registry: Registry, category: str) -> ImporterSpec | None:
    """Return the importer by which a draft of this category becomes a file, None when it is a row."""
    found = (spec for spec in registry.importers.values() if spec.category == category and spec.draft_file)
    return next(found, None)


def file_categories(registry: Registry) -> tuple[str, ...]:
    """Return the categories whose drafts become files."""
    return tuple(spec.category for spec in registry.importers.values() if spec.draft_file)


def as_file(registry: Registry, draft: MemoryDraft) -> MemoryDraft | None:
    """Return the draft with its `path` and `content`, None when its category has no files.

    Raises PluginError, which names the distribution, when its importer cannot say them.
    """
    importer = file_importer(registry, draft.category)
    if importer is None or importer.draft_file is None:
        return None
    file = importer.draft_file
    try:
        suffix = file.suffix_for(draft.body)
        content = draft.body if file.write is None else file.write(draft)
    except OlavError:
        raise
    except Exception as error:  # a stranger's code
        raise PluginError(_fault(registry, importer, f"failed to write the draft: {error!r}")) from error
    if suffix not in importer.suffixes or not isinstance(content, str):
        wrong = f"gave a draft the suffix {suffix!r} and {type(content).__name__} to write"
        raise PluginError(_fault(registry, importer, wrong))
    path = PurePosixPath(draft.agent, file.folder, f"{draft.intent}{suffix}")
    return evolve(draft, path=path.as_posix(), content=content)


def _fault(registry: Registry, importer: ImporterSpec, what: str) -> str:
    owner = registry.owner("importers", importer.id)
    who = f"{owner.distribution} {owner.version}".strip()
    return f"Importer {importer.id!r} of {who} {what}. Mend or update it."
