"""What counts as a person's yes: a whole message that consists of words which the lexicons know."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Final

from attrs import field, frozen

from olav_core.specs import ConfirmationSpec

#: A longer message says something of its own; it is no bare yes.
MAX_CHARS: Final = 80

#: Words of spaced scripts; elsewhere a character is a unit of its own, as nothing tells words apart there.
_UNIT: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff]+"
    r"(?:'[^\W_]+)*|\S"
)
_QUESTION: Final = frozenset("?؟")
#: Who quotes a yes does not say it. The single quote is one too, outside a word.
_QUOTES: Final = frozenset("\"'`“”„‟‘‚«»‹›「」『』〝〞〟>")
#: Ends a phrase; none may reach across it. By brackets, asterisks and bullets people format a plain yes.
_BREAKS: Final = frozenset(".,!;:。，、！；：…~～-–—()[]（）【】/|&+*•·●▪")
#: Emphasis by underscores; those within a name are none.
_UNDERSCORED: Final = re.compile(r"(?<!\w)(_{1,2})([^_]+)\1(?!\w)")
#: A word that such a sign opens is an option, a command, a negation or struck out: -yes, /yes, !yes, ~~yes~~.
_OPENED: Final = re.compile(r"(?<![\w!~/–—-])[!~/–—-]+\w|\w/\w")
#: None of these may stand in a phrase.
SIGNS: Final = _QUESTION | _QUOTES | _BREAKS


@frozen
class Lexicon:
    """All installed lexicons as one, so that "yes, 入库" is understood although no single one knows it."""

    yes: frozenset[tuple[str, ...]]
    fillers: frozenset[tuple[str, ...]]
    alone: frozenset[tuple[str, ...]]
    replies: tuple[str, ...]
    longest: int = field(init=False)

    @longest.default
    def _longest(self) -> int:
        return max((len(phrase) for phrase in self.yes | self.fillers), default=0)

    def confirms(self, message: str) -> bool:
        """Tell whether a message is a yes: "可以", "OK, please", "yes, 入库".

        A question, a quotation, a doubt, a negation, a request or a yes with a further wish is none: whatever
        holds anything that no lexicon knows says more than yes."""
        if not isinstance(message, str) or not message.strip() or len(message) > MAX_CHARS:
            return False
        units = list(units_of(_UNDERSCORED.sub(r"\2", message)))
        if any(unit in _QUESTION or unit in _QUOTES for unit in units) or _OPENED.search(_folded(message)):
            return False
        clauses = [list(group) for sign, group in groupby(units, _BREAKS.__contains__) if not sign]
        said = [self._says(clause) for clause in clauses]
        return None not in said and True in said

    def _says(self, units: list[str]) -> bool | None:
        """Tell whether phrases make up the clause (None: they do not), and if so whether one is a yes."""
        # reached[i]: the ways to read units[:i], each as the kinds of its phrases.
        reached: list[set[frozenset[str]]] = [set() for _ in range(len(units) + 1)]
        reached[0].add(frozenset())
        for start in range(len(units)):
            for end in range(start + 1, min(start + self.longest, len(units)) + 1):
                for kind in self._kinds(tuple(units[start:end])):
                    reached[end] |= {way | {kind} for way in reached[start]}
        ways = [way for way in reached[-1] if not {"alone", "filler"} <= way]
        return any(way & {"yes", "alone"} for way in ways) if ways else None

    def _kinds(self, phrase: tuple[str, ...]) -> Iterator[str]:
        if phrase in self.yes:
            yield "alone" if phrase in self.alone else "yes"
        if phrase in self.fillers:
            # A smile asks for nothing.
            yield "filler" if any(unit.isalnum() for unit in phrase) else "sign"


def units_of(text: str) -> Iterator[str]:
    """Yield the words, single characters of unspaced scripts, and signs of a text, case and width folded."""
    for match in _UNIT.finditer(_folded(text)):
        unit = match[0]
        # A skin tone or a variation selector changes nothing in what a sign says.
        if unit not in "\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff":
            yield unit


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


@lru_cache(maxsize=8)
def lexicon_of(specs: tuple[ConfirmationSpec, ...]) -> Lexicon:
    """Return the lexicons joined to one."""
    return Lexicon(
        yes=frozenset(tuple(units_of(phrase)) for spec in specs for phrase in spec.yes),
        fillers=frozenset(tuple(units_of(phrase)) for spec in specs for phrase in spec.fillers),
        alone=frozenset(tuple(units_of(phrase)) for spec in specs for phrase in spec.alone),
        replies=tuple(dict.fromkeys(reply for spec in specs for reply in spec.replies)),
    )


def question_of(specs: tuple[ConfirmationSpec, ...]) -> str:
    """Return the question that ends a proposal, with the answers that would be understood."""
    replies = lexicon_of(specs).replies
    return f"Confirm? Reply {' / '.join(replies)}" if replies else "Confirm with `olav drafts commit`."
