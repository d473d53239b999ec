"""A lexicon finds what a query's phrases are called in other languages, and refuses a faulty file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olav_core import ConfigError, build_registry
from olav_core.text.analyzer import analyze
from olav_core.text.lexicon import MAX_ALTERNATIVES, MAX_CONCEPTS, Lexicon
from olav_core.text.lexicon_file import read_folder, read_lines

LEXICON = Lexicon(
    [
        "接口|端口\tinterface|port",
        "备份\tbackup|back up",
        "数据\tdata",
        "数据库\tdatabase",
        "故障切换\tfailover|fail over",
        "注册\tregister|registration",
        "命名\tnaming",
        "规则\trule",
        "访问控制列表\taccess control list|ACL",
        "网关\tGateway\tPasserelle",
        "换\tswap",
    ]
)


def found(text: str) -> dict[str, tuple[str, ...]]:
    return {concept.words: concept.phrases for concept in LEXICON.translate(text).concepts}


def test_chinese_is_found_by_the_longest_phrase() -> None:
    assert found("数据库备份失败") == {"数 据 库": ("database",), "备 份": ("backup", "back up")}


def test_english_is_found_in_any_form_and_as_a_phrase() -> None:
    assert found("The ports' access control lists") == {
        "port": ("接口", "端口"),
        "access control list": ("访问控制列表",),
    }
    assert found("backing up databases") == {"back up": ("备份",), "databas": ("数据库",)}


def test_a_mixed_query_is_translated_both_ways() -> None:
    translation = LEXICON.translate("注册 InfluxDB 的 naming 规则")
    assert [concept.phrases for concept in translation.concepts] == [
        ("register", "registration"),
        ("命名",),
        ("rule",),
    ]
    assert translation.coverage == pytest.approx(3 / 4.5)


def test_every_column_is_a_language() -> None:
    assert found("网关") == {"网 关": ("Gateway", "Passerelle")}
    assert found("la passerelle") == {"passerell": ("网关", "Gateway")}


def test_the_terms_are_those_of_the_index() -> None:
    (concept,) = LEXICON.translate("故障切换").concepts
    assert concept.alternatives == (("failov",), ("fail", "over"))
    for phrase, terms in zip(concept.phrases, concept.alternatives, strict=True):
        assert set(terms) <= set(analyze(phrase))
    (concept,) = LEXICON.translate("ACL").concepts
    assert concept.alternatives == (("访问", "问控", "控制", "制列", "列表"),)


def test_what_tells_nothing_is_no_concept() -> None:
    assert LEXICON.translate("").concepts == ()
    assert LEXICON.translate("swap the poem 诗") == LEXICON.translate("")  # 换 alone is no index term
    assert Lexicon([]).translate("接口").coverage == 0


def test_a_word_of_many_meanings_and_a_pasted_log_are_bounded() -> None:
    many = Lexicon([f"词{chr(0x4E00 + i)}{chr(0x4E10 + i)}\tword" for i in range(40)])
    (concept,) = many.translate("word").concepts
    assert len(concept.alternatives) == MAX_ALTERNATIVES
    words = [f"w{i}x" for i in range(100)]
    long = Lexicon([f"{word}\tv{word}" for word in words])
    assert len(long.translate(" ".join(words)).concepts) == MAX_CONCEPTS


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["接口", "ports", "备份", "backup", "注册 naming"]))
def test_any_text_around_a_phrase_leaves_it_found(noise: str, phrase: str) -> None:
    translation = LEXICON.translate(f"{phrase} 。 {noise}")
    assert set(LEXICON.translate(phrase).concepts) <= set(translation.concepts)
    assert 0 < translation.coverage <= 1


def test_a_lexicons_names_are_found_in_the_text_that_holds_them() -> None:
    registry = build_registry()
    lines = [line for spec in registry.lexicons.values() for line in read_folder(spec.folder)]
    assert (
        sum((z.count("|") + 1) * (e.count("|") + 1) for z, e in (line.split("\t") for line in lines)) > 3_000
    )
    lexicon = Lexicon(lines)
    for query, words in {
        "怎么恢复昨天的备份": {"restore", "recover", "backup", "yesterday"},
        "上联口丢包怎么排查": {"uplink", "packet loss", "troubleshoot"},
        "who is on call this weekend?": {"值班", "周末"},
        "the certificate expires on Friday": {"证书", "到期", "周五"},
    }.items():
        phrases = {phrase for concept in lexicon.translate(query).concepts for phrase in concept.phrases}
        assert words <= phrases, query


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("接口 interface\n", "has no tab"),
        ("# note\n\n接口\tport|\n", "a name of column 2 is empty"),
        ("接口\t port\n", "has a blank at its end"),
        ("\t".join(["a"] * 9) + "\n", "9 columns"),
        ("备份\tbackup\n接口\n", ":2 is no line"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "team.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"team\.tsv:\d+ is no line of a lexicon") as error:
        read_lines(path)
    assert words in str(error.value)


def test_comments_blank_lines_and_a_byte_order_mark_are_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "team.tsv"
    path.write_bytes("\ufeff# ours\tnot a line\r\n\r\n接口\tport\r\n".encode())
    assert read_lines(path) == ["接口\tport"]
    assert read_folder(tmp_path / "none") == []
    path.write_bytes("接口\tport\n备份\t".encode() + b"\xff\n")
    with pytest.raises(ConfigError, match=r":2 is no UTF-8"):
        read_lines(path)
