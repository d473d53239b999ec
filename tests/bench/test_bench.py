"""`olav bench`, run on small data through the product's own recall path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from olav_core import RecordError, SuiteSpec, build_registry, hookimpl
from olav_core.cli.main import main

MEMORIES = [
    {"id": "m1", "text": "R1 loopback is 10.255.0.1", "scope": "netops", "lang": "en"},
    {"id": "m2", "text": "R2 loopback is 10.255.0.2", "scope": "netops", "lang": "en"},
    {"id": "m3", "text": "发票在每月五号之前提交", "scope": "finance", "lang": "zh"},
    {"id": "m4", "text": "团队 emea 的发薪日是 25 号", "scope": "team:emea", "lang": "zh"},
]
QUERIES = [
    {"qid": "q1", "query": "loopback of R1", "agent": "netops", "relevant": ["m1"], "forbidden": ["m3"],
     "kind": "identifier", "lang": "en"},
    {"qid": "q2", "query": "发票什么时候提交", "agent": "finance", "relevant": ["m3"], "kind": "plain",
     "lang": "zh"},
    {"qid": "q3", "query": "发薪日", "agent": "netops", "teams": ["emea"], "relevant": ["m4"], "lang": "zh"},
    {"qid": "q4", "query": "how do I bake bread", "agent": "netops", "kind": "negative_easy"},
]  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [write(tmp_path / "memories.jsonl", MEMORIES), write(tmp_path / "queries.jsonl", QUERIES)]


def bench(*words: str, code: int = 0) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["bench", *words, "--json"])
    assert done.exit_code == code, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_ranks_injects_and_leaks_nothing(files: list[str], tmp_path: Path) -> None:
    found = bench("run", "native", *files, "--embedder", "hashing", "--cache", str(tmp_path / "cache"))
    (report,) = found["runs"]
    assert report["retrieval"]["all"]["n"] == 3
    assert report["retrieval"]["all"]["R@1"]["mean"] == 1.0
    assert report["retrieval"]["kind:identifier"]["MRR@10"]["mean"] == 1.0
    assert report["retrieval"]["lang:zh->zh"]["n"] == 2
    assert report["leaks"] == 0
    assert report["injection"]["small"]["relevant_injected_share"] == 1.0
    assert report["injection"]["large"]["negatives"] == 1
    assert report["rankings"]["q1"][0] == "m1"
    assert {"unit", "pool", "versions", "configuration"} <= set(report)


def test_a_second_run_embeds_nothing_and_says_the_same(files: list[str], tmp_path: Path) -> None:
    words = ("run", "native", *files, "--embedder", "hashing", "--cache", str(tmp_path / "cache"))
    first, second = bench(*words), bench(*words)
    assert first["runs"][0]["rankings"] == second["runs"][0]["rankings"]


def test_chains_are_compared_query_by_query(files: list[str], tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    found = bench(
        "run", "native", *files, "--embedder", "hashing", "--cache", str(tmp_path / "cache"),
        "--ranker", "vector,bm25,score_fusion", "--ranker", "bm25,rrf", "--output", str(report),
    )  # fmt: skip
    assert [run["configuration"]["name"] for run in found["runs"]] == [
        "hashing+vector+bm25+score_fusion",
        "hashing+bm25+rrf",
    ]
    assert {row["metric"] for row in found["comparisons"]} == {"R@1", "R@5", "R@10", "nDCG@10"}
    same = bench("compare", str(report), str(report))
    assert all(row["difference"] == 0 and row["p"] == 1.0 for row in same["comparisons"])


def test_a_figure_under_its_bound_is_an_exit_code(files: list[str], tmp_path: Path) -> None:
    words = ("run", "native", *files, "--embedder", "hashing", "--cache", str(tmp_path / "cache"))
    bench(*words, "--fail-under", "R@1=0.9", "--fail-under", "kind:plain/R@5=1")
    bench(*words, "--fail-under", "all/R@1=1.01", code=1)
    assert "names no figure" in bench(*words, "--fail-under", "R@7=1", code=1)["error"]["message"]


@pytest.mark.parametrize(
    ("memories", "queries", "says"),
    [
        ([*MEMORIES, MEMORIES[0]], QUERIES, "memories.jsonl:5: id 'm1' stands there twice"),
        (MEMORIES, [{"query": "x"}], "queries.jsonl:1: there is no 'qid'"),
        (MEMORIES, [{"qid": "q", "query": "x", "relevant": ["m9"]}], "'m9' is no memory's id"),
        ([{"id": "m", "text": " "}], [{"qid": "q", "query": "x"}], "Memory 'm' of suite native is refused"),
    ],
)
def test_bad_data_is_named(
    memories: list[dict[str, Any]], queries: list[dict[str, Any]], says: str, tmp_path: Path
) -> None:
    files = [write(tmp_path / "memories.jsonl", memories), write(tmp_path / "queries.jsonl", queries)]
    found = bench("run", "native", *files, "--embedder", "hashing", "--cache", str(tmp_path / "c"), code=1)
    assert says in found["error"]["message"]


def test_beir_and_locomo_layouts(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    folder.mkdir()
    write(folder / "corpus.jsonl", [{"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "two"}])
    write(folder / "queries.jsonl", [{"_id": "1", "text": "one?"}, {"_id": "2", "text": "none?"}])
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t0\n")
    suite = build_registry().suite("beir").load([folder])
    assert [(query.qid, set(query.relevant)) for query in suite.queries] == [("1", {"d1"})]
    assert suite.memories["d1"].text == "T one"

    dialogue = {"speaker": "A", "text": "hello", "dia_id": "D1:1", "blip_caption": "a cat"}
    file = tmp_path / "locomo.json"
    conversation = {"session_1": [dialogue], "session_1_date_time": "1 May", "speaker_a": "A"}
    asked = [
        {"question": "who?", "evidence": ["D1:01"], "category": 4},
        {"question": "gone?", "evidence": ["D9:9"], "category": 1},
    ]
    file.write_text(json.dumps([{"conversation": conversation, "qa": asked}]))
    suite = build_registry().suite("locomo").load([file])
    assert suite.memories["conversation-0/D1:1"].text == "A: hello [image: a cat]"
    assert [(query.kind, query.scopes) for query in suite.queries] == [("single_hop", ("conversation-0",))]


def test_a_suite_of_ones_own_comes_by_the_hook_olav_register_suites() -> None:
    class Tickets:
        @hookimpl
        def olav_register_suites(self) -> list[SuiteSpec]:
            return [SuiteSpec(id="tickets", purpose="Tickets", files="a CSV file", load=lambda paths: None)]  # type: ignore[arg-type, return-value]

    assert set(build_registry([Tickets()]).suites) == {"tickets"}
    assert {"native", "beir", "locomo", "longmemeval"} <= set(build_registry().suites)


def test_longmemeval_keeps_user_turns_and_abstention(tmp_path: Path) -> None:
    session = [{"role": "user", "content": "I moved to Rome", "has_answer": True},
               {"role": "assistant", "content": "nice"}, {"role": "user", "content": "bye"}]  # fmt: skip
    entry = {"question_id": "q", "question": "where?", "question_type": "single", "answer_session_ids": ["s"],
             "haystack_session_ids": ["s"], "haystack_sessions": [session]}  # fmt: skip
    file = tmp_path / "lme.json"
    file.write_text(json.dumps([entry, {**entry, "question_id": "q_abs"}]))
    suite = build_registry().suite("longmemeval").load([file])
    assert [len(query.relevant) for query in suite.queries] == [1, 0]
    assert len(suite.memories) == 4
    with pytest.raises(RecordError, match="Give one path"):
        build_registry().suite("longmemeval").load([])
