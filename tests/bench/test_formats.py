"""Benchmark files: what is wrong is told with file, line and field, all of it at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench_suite import Run, Write
from olav_bench.reading import read_json

from olav_core import RecordError, build_registry

GOOD: dict[str, Any] = {"id": "m", "text": "R1 is a router"}
ASKED: dict[str, Any] = {"qid": "q", "query": "what is R1?", "relevant": ["m"]}


def load(suite: str, *paths: Path) -> Any:
    return build_registry().suite(suite).load(paths)


@pytest.mark.parametrize(
    ("memory", "says"),
    [
        ({"text": "x"}, "memories.jsonl:2: there is no 'id'. It has: text."),
        ({"id": "m", "text": "twice"}, "memories.jsonl:2: id 'm' stands there twice"),
        ({"id": "n", "text": " "}, "memories.jsonl:2: 'text' is ' ', expected a string that is not blank."),
        ({"id": "n", "text": 5}, "memories.jsonl:2: 'text' is 5"),
        ({"id": "n", "text": "x", "tags": "a"}, "memories.jsonl:2: 'tags' is 'a', expected a list"),
        ({"id": "n", "text": "x", "metadata": []}, "memories.jsonl:2: 'metadata' is [], expected an object."),
        ({"id": "n", "text": "x", "category": "facts"}, "'category' is 'facts', which is not known"),
        ({"id": "n", "text": "x", "categroy": "fact"}, "no field 'categroy'. Did you mean 'category'?"),
        ({"id": "n", "text": "x", "confidence": "high"}, "memories.jsonl:2: 'confidence' is 'high'"),
    ],
)  # fmt: skip
def test_a_wrong_memory_is_named(memory: dict[str, Any], says: str, tmp_path: Path, write: Write) -> None:
    paths = write(tmp_path / "memories.jsonl", [GOOD, memory]), write(tmp_path / "queries.jsonl", [ASKED])
    with pytest.raises(RecordError) as caught:
        load("native", *paths)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"query": "x"}, "queries.jsonl:2: there is no 'qid'"),
        (ASKED, "queries.jsonl:2: qid 'q' stands there twice"),
        ({"qid": "r", "query": "x", "relevant": ["m9"]}, "queries.jsonl:2: 'relevant' names 'm9'"),
        ({"qid": "r", "query": "x", "relevant": "m"}, "queries.jsonl:2: 'relevant' is 'm', expected a list"),
        ({"qid": "r", "query": "x", "relevant": None}, "queries.jsonl:2: 'relevant' is null"),
        ({"qid": "r", "query": "x", "relevent": ["m"]}, "no field 'relevent'. Did you mean 'relevant'?"),
        ({"qid": "r", "query": "x", "relevant": ["m"], "forbidden": ["m"]}, "both 'relevant'"),
        ({"qid": "r", "query": "x", "relevant": ["m"], "kind": "negative"}, "'relevant' is not empty"),
        ({"qid": "r", "query": "x", "split": "train"}, "'split' is 'train', which is not known"),
    ],
)  # fmt: skip
def test_a_wrong_query_is_named(query: dict[str, Any], says: str, tmp_path: Path, write: Write) -> None:
    paths = write(tmp_path / "memories.jsonl", [GOOD]), write(tmp_path / "queries.jsonl", [ASKED, query])
    with pytest.raises(RecordError) as caught:
        load("native", *paths)
    assert says in str(caught.value)


def test_all_faults_are_told_at_once_and_broken_lines_too(tmp_path: Path) -> None:
    memories, queries = tmp_path / "memories.jsonl", tmp_path / "queries.jsonl"
    memories.write_text('{"id": "m", "text": "x"}\n{"id": \n[1]\n\n{"id": "n"}\n', "utf-8")
    queries.write_text('{"qid": "q"}\n', "utf-8")
    with pytest.raises(RecordError) as caught:
        load("native", memories, queries)
    lines = str(caught.value).splitlines()
    assert [line.partition(": ")[0].rpartition("/")[2] for line in lines] == [
        "memories.jsonl:2", "memories.jsonl:3", "memories.jsonl:5", "queries.jsonl:1",
    ]  # fmt: skip


def test_what_the_store_refuses_is_named_by_its_line(olav: Run, tmp_path: Path, write: Write) -> None:
    wrong = {
        "id": "n",
        "text": "x",
        "category": "reflection",
        "origin": "agent",
        "metadata": {"status": "odd"},
    }
    paths = write(tmp_path / "memories.jsonl", [GOOD, wrong]), write(tmp_path / "queries.jsonl", [ASKED])
    found = olav("bench", "run", "native", *paths, "--embedder", "hashing", code=1)
    assert "memories.jsonl:2: memory 'n' is refused" in found["error"]["message"]
    assert "status" in found["error"]["message"]


def test_data_that_knows_nothing_of_the_categories_is_fitted_and_told(
    olav: Run, tmp_path: Path, write: Write
) -> None:
    memories = [
        {
            "id": "g",
            "text": "先做快照再变更",
            "category": "usage_guide",
            "origin": "agent",
            "metadata": {"by": "me"},
        },
        {"id": "e", "text": "pushed /etc/ntp.conf", "category": "operational_event"},
        {
            "id": "q",
            "text": "How many switches?",
            "category": "query_pattern",
            "metadata": {"sql": "SELECT 1"},
        },
        {"id": "d", "text": "R1 is in Shanghai", "category": "document", "origin": "document"},
    ]
    asked = [{"qid": row["id"], "query": row["text"], "relevant": [row["id"]]} for row in memories]
    paths = write(tmp_path / "m.jsonl", memories), write(tmp_path / "q.jsonl", asked)
    (report,) = olav("bench", "run", "native", *paths, "--embedder", "hashing")["runs"]
    assert report["retrieval"]["all"]["hit@5"]["mean"] == 1.0
    told = "\n".join(report["fitted"])
    for part in (
        "'by', which was left out",
        "'tool' was missing",
        "'question' was missing",
        "may not write it",
    ):
        assert part in told
    assert "'sql'" not in told


def test_other_fields_are_the_users_own_and_ids_may_be_numbers(tmp_path: Path, write: Write) -> None:
    memories = [{**GOOD, "id": 7, "note": "from the wiki", "u2028": "a\u2028b"}]
    paths = (
        write(tmp_path / "m.jsonl", memories),
        write(tmp_path / "q.jsonl", [{**ASKED, "relevant": [7], "who": "x"}]),
    )
    suite = load("native", *paths)
    assert suite.queries[0].relevant == {"7"}


@pytest.mark.parametrize("content", [b"\xff\xfe{}", b"", b"\n\n"])
def test_a_file_that_is_none_is_named(content: bytes, tmp_path: Path, write: Write) -> None:
    (tmp_path / "m.jsonl").write_bytes(content)
    with pytest.raises(RecordError, match=r"m\.jsonl"):
        load("native", tmp_path / "m.jsonl", write(tmp_path / "q.jsonl", [ASKED]))
    with pytest.raises(RecordError, match="cannot be read"):
        load("native", tmp_path / "none.jsonl", tmp_path / "q.jsonl")


def beir(folder: Path, write: Write) -> Path:
    folder.mkdir()
    write(folder / "corpus.jsonl", [{"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "two"}])
    write(folder / "queries.jsonl", [{"_id": "1", "text": "one?"}, {"_id": "2", "text": "none?"}])
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t0\n")
    return folder


def test_beir(tmp_path: Path, write: Write) -> None:
    folder = beir(tmp_path / "beir", write)
    suite = load("beir", folder)
    assert [(query.qid, set(query.relevant)) for query in suite.queries] == [("1", {"d1"})]
    assert suite.memories["d1"].text == "T one"
    (folder / "qrels.tsv").write_text("1 0 d1 1\n")
    assert load("beir", folder).queries[0].relevant == {"d1"}
    for wrong, says in (
        ("1\td9\t1\n", "'d9' is no _id"),
        ("1\td1\t1\nx\n", "qrels.tsv:2"),
        ("", "is judged"),
    ):
        (folder / "qrels.tsv").write_text(wrong)
        with pytest.raises(RecordError, match=says):
            load("beir", folder)
    (folder / "qrels.tsv").unlink()
    with pytest.raises(RecordError, match=r"no qrels\.tsv"):
        load("beir", folder)


def test_locomo_by_turn_and_by_session(tmp_path: Path) -> None:
    turns = [
        {"speaker": "A", "text": "hello", "dia_id": "D1:1", "blip_caption": "a cat"},
        {"speaker": "B", "text": "bye", "dia_id": "D1:2"},
    ]
    conversation = {"session_1": turns, "session_1_date_time": "1 May", "speaker_a": "A"}
    asked = [
        {"question": "who?", "evidence": ["D1:01"], "category": 4},
        {"question": "gone?", "evidence": ["D9:9"], "category": 1},
    ]
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([{"conversation": conversation, "qa": asked}]))
    suite = load("locomo", file)
    assert suite.memories["conversation-0/D1:1"].text == "A: hello [image: a cat]"
    assert [(query.kind, query.scopes) for query in suite.queries] == [("single_hop", ("conversation-0",))]
    sessions = load("locomo_session", file)
    assert sessions.unit == "session"
    assert sessions.memories["conversation-0/D1"].text == "A: hello [image: a cat]\nB: bye"
    assert sessions.queries[0].relevant == {"conversation-0/D1"}
    file.write_text(json.dumps([{"conversation": [], "qa": asked}]))
    with pytest.raises(RecordError, match="conversation 0 is not as LoCoMo has it"):
        load("locomo", file)


def test_longmemeval_keeps_user_turns_and_abstention(tmp_path: Path) -> None:
    session = [
        {"role": "user", "content": "I moved to Rome", "has_answer": True},
        {"role": "assistant", "content": "nice"},
        {"role": "user", "content": "bye"},
    ]
    entry = {
        "question_id": "q", "question": "where?", "question_type": "single", "answer_session_ids": ["s"],
        "haystack_session_ids": ["s"], "haystack_sessions": [session],
    }  # fmt: skip
    file = tmp_path / "lme.json"
    file.write_text(json.dumps([entry, {**entry, "question_id": "q_abs"}]))
    suite = load("longmemeval", file)
    assert [len(query.relevant) for query in suite.queries] == [1, 0]
    assert len(suite.memories) == 4
    file.write_text(json.dumps([{**entry, "haystack_session_ids": []}]))
    with pytest.raises(RecordError, match="not as LongMemEval"):
        load("longmemeval", file)
    with pytest.raises(RecordError, match="Give one path"):
        load("longmemeval")


def test_a_file_that_is_nested_too_deep_is_told(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    with pytest.raises(RecordError, match="nested too deep"):
        read_json(path)
