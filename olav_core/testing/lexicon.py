"""The contract of a lexicon."""

from __future__ import annotations

import time
from typing import ClassVar

from olav_core.errors import ConfigError
from olav_core.testing.contract import PluginContract
from olav_core.text.lexicon import MAX_ALTERNATIVES, Lexicon
from olav_core.text.lexicon_file import read_folder

#: Seconds of processor time for 10,000 lines: the first recall of a process waits for it.
LOAD_SECONDS = 0.5


class LexiconContract(PluginContract):
    """Subclass it in a test file and set `plugin`."""

    kind: ClassVar[str] = "lexicons"

    def _lines(self) -> list[str]:
        try:
            return read_folder(self.spec.folder)
        except ConfigError as error:
            self.require(
                False, str(error), "A recall leaves all lexicons out and says so.", "Mend that line."
            )
            raise

    def test_every_line_is_of_the_form(self) -> None:
        self.require(
            self._lines(),
            f"{self.spec.folder} holds no line.",
            "A lexicon without lines translates nothing.",
            "Are the *.tsv package data?",
        )

    def test_every_name_is_found(self) -> None:
        lines = self._lines()
        lexicon = Lexicon(lines)
        names = [name for line in lines for column in line.split("\t") for name in column.split("|")]
        lost = [name for name in names if not lexicon.knows(name)]
        self.require(
            not lost,
            f"{len(lost)} names hold nothing to be found by: {', '.join(lost[:5])}.",
            "A query with that name is not translated.",
            "Give words with letters or digits.",
        )

    def test_no_line_says_a_thing_twice(self) -> None:
        doubled = [
            line
            for line in self._lines()
            for column in line.casefold().split("\t")
            if len(set(column.split("|"))) < column.count("|") + 1
        ]
        self.require(
            not doubled,
            f"{len(doubled)} lines name a thing twice in a column: {'; '.join(doubled[:3])}.",
            f"Only {MAX_ALTERNATIVES} translations of a name count.",
            "Leave the second one out.",
        )

    def test_loading_is_quick(self) -> None:
        began = time.process_time()
        lines = self._lines()
        Lexicon(lines)
        spent = time.process_time() - began
        allowed = max(LOAD_SECONDS * len(lines) / 10_000, 0.2)
        self.require(
            spent <= allowed,
            f"{len(lines):,} lines took {spent:.2f} s of processor time; {allowed:.2f} s are allowed.",
            "The first recall of every process waits for it.",
            "Leave rare names out.",
        )
