"""The contract of a confirmation lexicon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from olav_core.drafts.lexicon import MAX_CHARS, SIGNS, Lexicon, lexicon_of, units_of
from olav_core.testing.contract import ODD_TEXTS, PluginContract

#: Answers that are no yes in any language that a built-in knows; a new lexicon must not make them one.
NEVER = (
    "",
    "no",
    "not now",
    "don't save it",
    "maybe",
    "I think so",
    "not sure",
    "ok?",
    "should I say yes?",
    "yes, but change the name",
    "ok, and then reboot R1",
    "he said “yes”",
    '"ok"',
    "> yes",
    "不",
    "不可以",
    "可以吗",
    "可以吧",
    "是不是",
    "对吧",
    "可以，不过改一下名字",
    "先不要入库",
    "用户说“可以”",
    "不确定",
    "你确定",
    "再想想",
)
_WHY = "What confirms a draft is the only guard between a model's proposal and the store."


class ConfirmationContract(PluginContract):
    """Subclass it in a test file and set `plugin`.

    `confirming`: whole messages that must be a yes, such as "ja, bitte speichern". `other`: whole messages
    that must not, besides NEVER: questions, doubts, negations, a yes with a wish.
    """

    kind: ClassVar[str] = "confirmations"
    confirming: Sequence[str] = ()
    other: Sequence[str] = ()

    @property
    def together(self) -> Lexicon:
        """This lexicon and all installed ones, as a workspace reads them."""
        return lexicon_of(tuple(self.registry.confirmations.values()))

    def test_its_replies_confirm(self) -> None:
        alone = lexicon_of((self.spec,))
        for reply in self.spec.replies:
            self.require(
                alone.confirms(reply),
                f"the reply {reply!r}, which the question offers, does not confirm.",
                "A person who answers as told would be asked again.",
                "Add it to `yes`.",
            )

    def test_what_is_no_yes_stays_none(self) -> None:
        for message in (*NEVER, *self.other):
            self.require(
                not self.together.confirms(message),
                f"{message!r} confirms, but it is no yes.",
                _WHY,
                "Leave out the phrase or filler that makes it one; list longer phrases instead.",
            )

    def test_fillers_alone_say_nothing(self) -> None:
        for filler in self.spec.fillers:
            self.require(
                not self.together.confirms(filler),
                f"the filler {filler!r} confirms by itself.",
                _WHY,
                "Move it to `yes` if it is one; else take it out of another lexicon's `yes`.",
            )

    def test_its_phrases_can_be_said(self) -> None:
        for phrase in (*self.spec.yes, *self.spec.fillers):
            units = set(units_of(phrase))
            self.require(
                not units & SIGNS and len(phrase) <= MAX_CHARS,
                f"the phrase {phrase[:40]!r} holds a sign that ends a phrase, or is longer than a message.",
                f"No message matches it: a sign ends a phrase, and a yes has at most {MAX_CHARS} characters.",
                "Write the words only; punctuation between phrases is ignored.",
            )

    def test_it_takes_any_message(self) -> None:
        for text in (*ODD_TEXTS, "\ud800", "\x00", "y" * 100_000, "🙂" * 30):
            what = f"the message {text[:30]!r}"
            with self.calling(what, "People say anything.", "Keep phrases to plain words."):
                confirmed = self.together.confirms(text)
            self.require(not confirmed, f"{what} confirms.", _WHY, "Leave out the phrase that makes it one.")

    def test_it_names_its_languages(self) -> None:
        self.require(
            self.spec.languages,
            "it names no language.",
            "`olav plugins` tells teams by it in which languages they can answer.",
            'Set languages, such as `("en",)`.',
        )

    def test_its_own_samples(self) -> None:
        for message in self.confirming:
            self.require(
                self.together.confirms(message),
                f"{message!r} does not confirm.",
                "You said so in `confirming`.",
                "Add the phrase or the filler, or mend the sample.",
            )
