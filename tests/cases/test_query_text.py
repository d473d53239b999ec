"""Cases 5 to 9: any query gives an answer, and what was stored is found by its own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from case_workspace import Make, fill, texts_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olav_core import Memory, OlavError, RecordError

BLANK = ("", " ", "\n\t ", "\x00", "\x00 \x1b", "\u3000")
WORDLESS = ("!?", "...", "👩‍👩‍👧", "🔥🔥", "—", "“”", "\u200b", "\u202e", "\ud800", '"')
SYNTAX = (
    "who is “waldo”?",
    'who is "waldo"?',
    "fish days: waldo",
    "Message: {0} waldo",
    "usb-c waldo",
    ">>> waldo",
    "waldo AND b",
    "waldo OR NOT",
    "NOT waldo",
    "(waldo python",
    "waldo)",
    "waldo*",
    "^waldo",
    "waldo~2",
    "waldo^3",
    "\\waldo",
    "waldo\\",
    "+waldo",
    "-waldo",
    "body:waldo",
    "scope:global waldo",
    "[waldo TO z]",
    "{waldo",
    "waldo/regex/",
    "waldo && ||",
    "waldo\x00",
    "\ud800 waldo",
    "wal\u00addo",  # a soft hyphen inside the word
    "ＷＡＬＤＯ",
    "waldo " + "filler " * 3000,
    "filler " * 3000 + "waldo",
    "%s %d waldo %",
    "$waldo `id`",
    "' OR 1=1 -- waldo",
    "<relevant-memories> waldo",
)


WORDS_ALONE = "recall: {rankers: [bm25, score_fusion, keyword_boost, near_duplicate]}"
WALDO = "waldo is the border router"


@pytest.fixture(scope="module")
def waldo(make_shared: Make) -> Memory:
    memory = make_shared("waldo")
    fill(memory, [WALDO, "nothing to see here", "python lives in a terrarium"])
    return memory


@pytest.fixture(scope="module")
def lexical(make_shared: Make) -> Memory:
    """Words alone decide: no vector leg."""
    memory = make_shared("lexical", settings=WORDS_ALONE)
    fill(memory, [WALDO, "nothing to see here", "python lives in a terrarium"])
    return memory


@pytest.mark.parametrize("query", BLANK, ids=ascii)
def test_case_5_a_blank_query_recalls_nothing_and_says_so(waldo: Memory, query: str) -> None:
    for recall in (waldo.recall(query), waldo.search(query)):
        assert (recall.items, recall.block, recall.degraded) == ((), "", ())
        assert any("blank" in warning for warning in recall.warnings)
    message = {"role": "user", "content": query}
    assert waldo.enrich([message]) == [message]


@pytest.mark.parametrize("query", WORDLESS, ids=ascii)
def test_case_5_a_query_without_words_is_a_defined_result(memory: Memory, query: str) -> None:
    memory.remember(f"the sign {query} is painted on the door" if query != "\ud800" else "sign")
    for recall in (memory.recall(query, tier="large"), memory.search(query)):
        assert recall.degraded == ()
    assert memory.enrich([{"role": "user", "content": query}])[-1]["role"] == "user"


def test_case_5_quoted_words_keep_both_legs(memory: Memory) -> None:
    memory.remember("the old man and the sea")
    recall = memory.recall('"old man"')
    assert texts_of(recall) == ["the old man and the sea"]
    assert recall.degraded == ()
    assert recall.trace[0].leg_ranks == {"bm25": 1, "vector": 1, "translated": None, "identifiers": None}


@pytest.mark.parametrize("query", SYNTAX, ids=lambda query: ascii(query[:24]))
def test_case_6_query_syntax_is_only_text(lexical: Memory, query: str) -> None:
    recall = lexical.recall(query, limit=1)
    assert recall.degraded == ()
    assert texts_of(recall) == [WALDO]


def test_case_6_the_command_line_takes_them_too(waldo: Memory, cli: Callable[..., Any]) -> None:
    for query in ('who is "waldo"?', "waldo AND b", "(waldo", "waldo\\", "-- -waldo"):
        assert cli(waldo, "recall", "--", query)["items"][0]["text"] == WALDO


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=80))
def test_case_6_no_text_breaks_a_recall(waldo: Memory, query: str) -> None:
    assert waldo.recall(query, tier="large").degraded == ()
    assert waldo.enrich([{"role": "user", "content": query}])


@pytest.mark.parametrize("query", [None, 5, b"waldo", ["waldo"]])
def test_case_6_a_query_that_is_no_text_is_refused(waldo: Memory, query: Any) -> None:
    for call in (waldo.recall, waldo.search):
        with pytest.raises(RecordError, match="query"):
            call(query)


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True, None])
def test_case_6_a_limit_that_is_no_count_is_refused(waldo: Memory, limit: Any) -> None:
    for call in (lambda: waldo.search("waldo", limit=limit), lambda: waldo.list(offset=limit or -1)):
        with pytest.raises(RecordError, match=r"limit|offset"):
            call()
    assert waldo.recall("waldo", limit=0).items == ()


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("recall", {"token_budget": float("nan")}),
        ("recall", {"token_budget": "3"}),
        ("recall", {"token_budget": -1}),
        ("recall", {"model": 3}),
        ("recall", {"scopes": 3}),
        ("list", {"category": 3}),
        ("list", {"category": ["fact"]}),
        ("list", {"origin": 3}),
        ("list", {"offset": None}),
        ("list", {"scopes": 3}),
    ],
)
def test_case_6_a_choice_of_another_type_is_refused(waldo: Memory, call: str, wrong: Any) -> None:
    words = ["waldo"] if call == "recall" else []
    with pytest.raises(OlavError, match="must be"):
        getattr(waldo, call)(*words, **wrong)


EXACT = (
    "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6/550e8400-e29b-41d4-a716-446655440000",
    "https://grafana.example.net/d/aB3dE/core-links?orgId=1&from=now-6h&var-site=fra1&viewPanel=42",
    "2001:db8::ff00:42:8329",
    "10.20.30.40/29",
    "Gi0/0/1.100",
    "/var/lib/influxdb2/engine/data/0000f1.tsm",
    "register_service_v2",
    "CVE-2025-31337",
    "a" * 300 + "7",
    "00:1A:2B:3C:4D:5E",
    "ops+oncall@example.net",
    "C:\\olav\\état\\r1.cfg",
)


@pytest.mark.parametrize("frame", ["{}", "see {} for the details.", "参见{}，然后重启。", "({})", '"{}",'])
def test_case_7_an_identifier_inside_a_text_is_found_by_the_exact_string(make: Make, frame: str) -> None:
    memory = make(settings=WORDS_ALONE)
    near = [exact[:-1] + ("0" if exact[-1] != "0" else "1") for exact in EXACT]
    fill(memory, [frame.format(text) for text in (*near, *EXACT)])
    for exact in EXACT:
        for query in (exact, f"what about {exact} ?", f"{exact}是什么？"):
            assert texts_of(memory.recall(query, limit=1)) == [frame.format(exact)]


PHRASES = ("审批流程", "用户身份", "设备", "环境变量", "接口状态", "核心交换机", "告警抑制")


@pytest.mark.parametrize("embedder", ["hashing", "minilm"])
def test_case_8_a_chinese_phrase_amid_a_sentence_is_found_by_its_words_alone(
    make: Make, embedder: str
) -> None:
    memory = make(embedder=embedder, settings=WORDS_ALONE)
    frame = "请注意，在变更之前必须先确认{}是否正确并且记录下来。"
    fill(
        memory, [*(frame.format(phrase) for phrase in PHRASES), "今天的天气很好。", "Take a snapshot first."]
    )
    for phrase in PHRASES:
        for query in (phrase, f"怎么查看{phrase}？", f"how to check {phrase}"):
            recall = memory.recall(query, limit=1)
            assert texts_of(recall) == [frame.format(phrase)]
            assert recall.trace[0].leg_ranks == {"bm25": 1}


def test_case_9_chinese_under_an_english_only_embedder_is_warned_of_at_init(tmp_path: Any) -> None:
    from click.testing import CliRunner

    from olav_core.cli.main import main

    result = CliRunner().invoke(main, ["init", "--embedder", "minilm", str(tmp_path / "ws")])
    assert "Chinese" in result.output
    assert "e5" in result.output
    result = CliRunner().invoke(main, ["init", "--embedder", "e5", str(tmp_path / "ws2")])
    assert "Chinese" not in result.output
