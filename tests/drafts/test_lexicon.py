"""What counts as a yes: the built-in lexicons, a stranger's beside them, and that nothing else does."""

from __future__ import annotations

import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core import ConfirmationSpec, build_registry, hookimpl
from olav_core.drafts.lexicon import MAX_CHARS, units_of

REGISTRY = build_registry()
SPECS = tuple(REGISTRY.confirmations.values())
YES = [phrase for spec in SPECS for phrase in spec.yes]
FILLERS = [phrase for spec in SPECS for phrase in spec.fillers]


@pytest.mark.parametrize(
    "message",
    [
        "可以",
        "可以。",
        "OK",
        "ok!",
        "Yes, please.",
        "yes 入库",
        "好的，入库吧",
        "确认",
        "请确认入库",
        "Go ahead 👍",
        "嗯，可以的",
        "ＯＫ",
        "sure, save it, thanks",
        "好的，保存吧",
        "yes, save it",
        "That’s right, go ahead.",
        "OK👍🏽",
        "好！",
        "YES\n谢谢",
        "可以 ok",
        "那就这么存吧",
        "Okay - please do",
        "没问题，存下来吧",
        "correct",
        "that's correct",
        "correct, save it",
        "确认 ✅",
        "对，确认",
        "好！可以",
        "好~可以",
        # formatted, as chat clients do
        "- yes",
        "* 可以",
        "+ ok",
        "• 可以",
        "*yes*",
        "**可以**",
        "***OK***",
        "_yes_",
        "__好的__",
        "(yes)",
        "（可以）",
        "[OK]",
        "【确认】",
        "yes (please)",
        "- **好的**，入库",
    ],
)
def test_a_yes(message: str) -> None:
    assert REGISTRY.confirms(message)


@pytest.mark.parametrize(
    "message",
    [
        # no, a question, a doubt
        "",
        " ",
        "no",
        "不可以",
        "不行",
        "可以吗？",
        "可以吗",
        "ok?",
        "不确认",
        "什么是确认",
        "取消",
        "是不是",
        "not yes",
        "don't save it",
        "先不要入库",
        "never do it",
        "好不好",
        "可以吧",
        "对吧",
        "是吧",
        "你确定",
        "maybe",
        "I think yes",
        "应该可以",
        "可能可以",
        "也许行",
        "probably ok",
        "yes and no",
        "再想想",
        "ok…?",
        "yes؟",
        "行不行",
        # thanks and hums alone, asides
        "please",
        "谢谢",
        "嗯",
        "perfect",
        "👍",
        "ok 👎",
        "对了",
        "行了",
        "好了",
        # a yes with a wish
        "可以，但是改一下名字",
        "yes but change it",
        "ok but change the scope",
        "OK, next: what is R1?",
        "好的，先改成大写",
        "yes, in lower case",
        "可以，把作用域改成 global",
        # somebody else's yes, or a command of another kind
        "docs say yes",
        "remember that R1 is down, ok",
        "“可以”",
        '"yes"',
        "'yes'",
        "`ok`",
        "> yes",
        "「好的」",
        "他说：可以",
        "user: yes",
        "yes = no",
        "# ok",
        "<yes>",
        "{ok}",
        "ok " * 60,
        # a request to the agent, a part of it
        "Please correct it",
        "correct this",
        "correct that",
        "now correct it",
        "correct it, thanks",
        "good, correct it please",
        "please confirm",
        "confirm please",
        "yes, please confirm",
        "please approve it",
        "approve just this",
        "save just this",
        "请确认",
        "**please confirm**",
        "（请确认）",
        "- 请确认",
        "麻烦你确认",
        "请批准",
        "对 请确认",
        "好的，请你同意",
        # formatted, and still none
        "**不可以**",
        "(not) yes",
        "（不）可以",
        "(yes?)",
        "- yes\n- no",
        "- > yes",
        "**“可以”**",
        "save_it",
        "_not_ yes",
        "_yes_or_no_",
        "1. yes",
        "[x] yes",
        # an option, a command, a negation, struck out
        "~~yes~~",
        "可以，~~入库~~",
        "!yes",
        "！可以",
        "-yes",
        "ok -yes",
        "--yes",
        "—yes",
        "/yes",
        "y/yes",
    ],
)
def test_no_yes(message: str) -> None:
    assert not REGISTRY.confirms(message)


@given(st.lists(st.sampled_from(YES + FILLERS), min_size=1, max_size=4))
def test_phrases_in_any_mix_are_a_yes_when_one_of_them_is(phrases: list[str]) -> None:
    message = ", ".join(phrases)
    if len(message) <= MAX_CHARS:
        assert REGISTRY.confirms(message) == any(phrase in YES for phrase in phrases)


@given(st.sampled_from(YES), st.text(min_size=1, max_size=40), st.booleans())
def test_a_yes_with_anything_unknown_is_none(phrase: str, more: str, after: bool) -> None:
    message = f"{phrase}, {more}" if after else f"{more}, {phrase}"
    known = {unit for text in (*YES, *FILLERS) for unit in units_of(text)}
    if any(unit.isalnum() and unit not in known for unit in units_of(more)):
        assert not REGISTRY.confirms(message)


@given(st.text(max_size=200))
def test_any_message_is_taken(message: str) -> None:
    REGISTRY.confirms(message)


def test_a_message_longer_than_an_answer_is_none() -> None:
    assert not REGISTRY.confirms("yes " * MAX_CHARS)


def test_a_strangers_lexicon_is_read_with_the_built_in_ones() -> None:
    module = types.ModuleType("olav_ja")

    def olav_register_confirmations() -> list[ConfirmationSpec]:
        return [ConfirmationSpec(id="de", purpose="German", languages=("de",), yes=("ja", "passt so"),
                                 fillers=("bitte",), replies=("ja",))]  # fmt: skip

    olav_register_confirmations.__module__ = "olav_ja"
    module.olav_register_confirmations = hookimpl(olav_register_confirmations)  # type: ignore[attr-defined]
    alone = build_registry([module])
    assert alone.confirms("Ja, bitte!")
    assert not alone.confirms("yes")
    assert alone.confirmation_question() == "Confirm? Reply ja"
    both = build_registry([module, _built_in()])
    assert both.confirms("ok, passt so, 谢谢")
    assert "可以" in both.confirmation_question()


def _built_in() -> types.ModuleType:
    import olav_confirmations

    return olav_confirmations


def test_without_a_lexicon_nothing_confirms() -> None:
    none = build_registry(disabled=["confirmations"])
    assert not none.confirmations
    assert not none.confirms("yes")
    assert "olav drafts commit" in none.confirmation_question()
