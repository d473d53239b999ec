"""A vocabulary: every form of the verbs, and what it is a form of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from attrs import frozen

from olav_verbs import words

Form = Literal["base", "third", "gerund", "participle"]
_VOWELS = "aeiou"
#: Prefixes that make a new verb of the same class: redeploy, unregister, undelete.
_PREFIXES = ("re", "un", "de", "dis", "over", "pre")


@frozen
class Verb:
    """A word of a name read as a verb: its lemma, its form, how sure it is one (`firm`, `loose`)."""

    lemma: str
    form: Form
    firm: bool


class Vocabulary:
    """Looks words up. `verbs`: a team's own verbs, taken as firm; `shut_down` may be of several words."""

    def __init__(self, verbs: Iterable[str] = ()) -> None:
        own = [tuple(verb.lower().replace("_", " ").replace("-", " ").split()) for verb in verbs]
        self.phrases = words.PHRASES | {verb: "-".join(verb) for verb in own if len(verb) > 1}
        single = {verb[0] for verb in own if len(verb) == 1}
        self.own = single | {"-".join(verb) for verb in own if len(verb) > 1}
        firm = ((words.STEMS | words.FIRM) - words.NOUNISH) | words.PHRASE_VERBS | self.own
        loose = ((words.LOOSE | words.NOUNISH) - self.own) | set(words.OBJECTS)
        self._forms: dict[str, Verb] = {}
        for lemmas, sure in ((loose, False), (firm, True)):
            for lemma in sorted(lemmas):
                for form, kind in _inflected(lemma):
                    self._forms[form] = Verb(lemma, kind, sure)
        for form, kind in _inflected("execute"):
            self._forms[form] = Verb("exec", kind, False)

    def verb(self, word: str) -> Verb | None:
        """Return how `word` reads as a write-class verb, None when it does not."""
        found = self._forms.get(word)
        if found is not None or word in words.READS:
            return found
        for prefix in _PREFIXES:
            rest = self._forms.get(word.removeprefix(prefix)) if word.startswith(prefix) else None
            if rest is not None and (rest.firm or rest.lemma in words.NOUNISH):
                return Verb(prefix + rest.lemma, rest.form, True)
        return None

    def joined(self, tokens: list[str]) -> list[str]:
        """Return the words with the two-word verbs as one."""
        out: list[str] = []
        for token in tokens:
            out.append(token)
            for size in (3, 2):
                tail = tuple(out[-size:])
                if len(tail) == size and tail in self.phrases:
                    out[-size:] = [self.phrases[tail]]
                    break
        return out


def _inflected(verb: str) -> Iterator[tuple[str, Form]]:
    yield verb, "base"
    head, _, last = verb.rpartition("-") if "-" in verb else ("", "", verb)
    if head:  # a phrase: `tear-down` is not inflected in names
        return
    consonant_y = last.endswith("y") and last[-2] not in _VOWELS
    if consonant_y:
        yield f"{last[:-1]}ies", "third"
    elif last.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield f"{last}es", "third"
    else:
        yield f"{last}s", "third"
    stem = last[:-1] if last.endswith("e") and not last.endswith(("ee", "ye")) else last
    stems = [stem]
    if len(last) > 2 and last[-1] not in "wxy" + _VOWELS and last[-2] in _VOWELS and last[-3] not in _VOWELS:
        stems.append(last + last[-1])  # stopping, committed; a wrong doubling is no word, so it does no harm
    for part in stems:
        yield f"{part}ing", "gerund"
    past = words.PAST.get(last)
    if past is not None:
        yield from ((form, "participle") for form in past.split())
        return
    for part in stems:
        yield (f"{part[:-1]}ied" if consonant_y else f"{part}ed"), "participle"
