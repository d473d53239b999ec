"""The contract of directives that a distribution ships."""

from __future__ import annotations

from typing import Any, ClassVar

from olav_core.importing.directory import import_directory
from olav_core.lint.lint import lint_guides
from olav_core.packages.shipped import directive_importers
from olav_core.testing.contract import PluginContract
from olav_core.testing.workspaces import temporary_workspace


class DirectiveContract(PluginContract):
    """Subclass it in a test file and set `plugin`."""

    kind: ClassVar[str] = "directives"

    def _prime(self, memory: Any) -> Any:
        return import_directory(memory, self.spec.folder, importers=directive_importers(memory))

    def _plugins(self) -> tuple[Any, ...]:
        return () if self.plugin is None else (self.plugin,)

    def test_its_files_bring_memories(self) -> None:
        with temporary_workspace(*self._plugins()) as memory:
            report = self._prime(memory)
        self.require(
            report.added and not report.faults,
            f"{self.spec.folder} brings {report.added} memories; its faults: "
            f"{'; '.join(map(str, report.faults)) or 'none'}.",
            "`olav init` would prime nothing of it, or only a part.",
            "Mend what the faults name. Are the files package data, and named *.guide.yaml or *.format.yaml?",
        )

    def test_priming_twice_changes_nothing(self) -> None:
        with temporary_workspace(*self._plugins()) as memory:
            first, second = self._prime(memory), self._prime(memory)
        self.require(
            second.unchanged == first.added and not second.embedded,
            f"priming again left {second.unchanged} of {first.added} rows unchanged and embedded "
            f"{second.embedded} texts.",
            "`olav kb prime` may run at every start.",
            "Let the importer's drafts depend on the bytes only.",
        )

    def test_lint_finds_nothing(self) -> None:
        with temporary_workspace(*self._plugins()) as memory:
            self._prime(memory)
            own = {row.id for row in memory.list()}
            found = [each for each in lint_guides(memory).findings if {ref.id for ref in each.guides} <= own]
        found = [each for each in found if each.severity != "note"]
        self.require(
            not found,
            f"lint finds {len(found)} fault(s): {' '.join(each.message for each in found)}",
            "Every workspace gets these directives; one that contradicts another misleads them all.",
            " ".join(dict.fromkeys(each.mend for each in found)),
        )
