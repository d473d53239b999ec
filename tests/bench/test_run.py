"""`olav bench run`: the product's own recall path, every figure with its unit, pool and counting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench_suite import Run, Write
from click.testing import CliRunner

from olav_core import SuiteSpec, build_registry, hookimpl
from olav_core.cli.main import main


def test_ranks_injects_and_leaks_nothing(native: Run) -> None:
    (report,) = native()["runs"]
    everything = report["retrieval"]["all"]
    assert everything["n"] == 3
    assert everything["R@1"]["mean"] == everything["hit@1"]["mean"] == everything["all@1"]["mean"] == 1.0
    assert report["retrieval"]["kind:identifier"]["MRR@10"]["mean"] == 1.0
    assert report["retrieval"]["lang:zh->zh"]["n"] == 2
    assert report["leaks"] == 0
    assert report["injection"]["small"]["relevant_injected_share"] == 1.0
    assert report["injection"]["large"]["negatives"] == 1
    assert report["injection"]["large"]["groups"]["kind:negative_easy"]["n"] == 1
    assert report["rankings"]["q1"][0] == "m1"


def test_a_metrics_name_says_its_counting_unit_and_pool(native: Run) -> None:
    (report,) = native()["runs"]
    row = report["retrieval"]["all"]
    for key, counting in (("R@5", "share"), ("hit@5", "any"), ("all@5", "all")):
        assert counting in row[key]["name"]
        assert "unit memory; pool the agent's scopes" in row[key]["name"]
    assert all(name.endswith("tier large") for key, name in report["metric_names"].items() if "large/" in key)


def test_share_any_and_all_part_where_several_are_relevant(
    native: Run, files: list[Path], write: Write
) -> None:
    write(files[1], [{"qid": "q", "query": "loopback of R1", "agent": "netops", "relevant": ["m1", "m2"]}])
    row = native()["runs"][0]["retrieval"]["all"]
    assert (row["R@1"]["mean"], row["hit@1"]["mean"], row["all@1"]["mean"]) == (0.5, 1.0, 0.0)
    assert row["all@5"]["mean"] == 1.0


def test_the_whole_configuration_and_the_raw_rankings_are_saved(native: Run, tmp_path: Path) -> None:
    found = native("--set", "recall.floor=0.1", "--set", "categories.reflection.gates=[]")
    saved = json.loads(Path(found["saved"]).read_text("utf-8"))
    assert Path(found["saved"]).is_relative_to(tmp_path / "cache")
    (report,) = saved["runs"]
    configuration = report["configuration"]
    assert configuration["floor"] == 0.1
    assert configuration["categories"]["reflection"]["gates"] == []
    assert configuration["rankers"][0] == "vector"
    assert (
        set(report["rankings"])
        == set(report["scores"])
        == set(report["injected"])
        == {"q1", "q2", "q3", "q4"}
    )
    assert {"versions", "machine", "data_sha256", "measured_at"} <= set(report)


def test_embedders_and_rankers_make_configurations_that_are_compared(native: Run) -> None:
    found = native("--ranker", "default,rrf,-keyword_boost", "--limit", "3")
    names = [run["configuration"]["name"] for run in found["runs"]]
    assert names == ["hashing+default", "hashing+rrf", "hashing+-keyword_boost"]
    chains = [run["configuration"]["rankers"] for run in found["runs"]]
    assert "rrf" in chains[1]
    assert "score_fusion" not in chains[1]
    assert "keyword_boost" not in chains[2]
    assert {row["against"] for row in found["comparisons"]} == {"hashing+default"}
    assert {row["metric"] for row in found["comparisons"]} >= {"R@5", "nDCG@10", "large/block_precision"}


def test_a_whole_chain_is_one_configuration(native: Run) -> None:
    (report,) = native("--ranker", "bm25,rrf")["runs"]
    assert report["configuration"]["rankers"] == ["bm25", "rrf"]


def test_a_reranker_moves_the_ranking_that_is_measured(olav_open: Any) -> None:
    class Backwards:
        @hookimpl
        def olav_register_rankers(self) -> list[Any]:
            from olav_core import RankerSpec

            class Rerank:
                def rerank(self, query: Any, candidates: Any) -> list[float]:
                    return [float(place) for place, _ in enumerate(candidates)]

            return [RankerSpec(id="backwards", stage="rerank", purpose="x", factory=lambda options: Rerank())]

    usual = olav_open()
    rankers = [*usual.settings.recall.rankers, "backwards"]
    turned = olav_open(Backwards(), config={"recall": {"rankers": rankers}})
    for memory in (usual, turned):
        for text in ("R1 loopback", "R2 loopback", "R3 loopback"):
            memory.remember(text)
    orders = [[item.text for item in memory.search("R1 loopback").items] for memory in (usual, turned)]
    assert orders[0] == orders[1][::-1] != orders[1]


def test_compare_tells_significance_and_refuses_other_data(
    native: Run, olav: Run, files: list[Path], write: Write, tmp_path: Path
) -> None:
    first, other = tmp_path / "a.json", tmp_path / "b.json"
    native("--output", first)
    rows = olav("bench", "compare", first, first)["comparisons"]
    assert all(row["difference"] == 0 and row["p"] == 1.0 and not row["significant"] for row in rows)
    write(files[1], [{"qid": "other", "query": "发票", "agent": "finance", "relevant": ["m3"]}])
    native("--output", other)
    assert "share no query" in olav("bench", "compare", first, other, code=1)["error"]["message"]
    report = json.loads(first.read_text("utf-8"))
    report["runs"][0]["unit"] = "session"
    other.write_text(json.dumps(report), "utf-8")
    assert "another unit" in olav("bench", "compare", first, other, code=1)["error"]["message"]
    other.write_text("[]", "utf-8")
    assert "is no report" in olav("bench", "compare", first, other, code=1)["error"]["message"]


def test_a_bound_that_is_not_kept_is_an_exit_code(native: Run) -> None:
    native("--fail-under", "R@1=0.9", "--fail-under", "kind:plain/R@5=1", "--fail-over", "leaks=0")
    found = native("--fail-under", "all/R@1=1.01", "--fail-over", "large/tokens_p50=1", code=1)
    assert [line.partition(" is ")[0] for line in found["missed"]] == [
        "hashing: all/R@1",
        "hashing: large/tokens_p50",
    ]
    assert "share of the relevant" in found["missed"][0]
    assert "no figure 'R@7'" in native("--fail-under", "R@7=1", code=1)["error"]["message"]
    assert "METRIC=VALUE" in native("--fail-under", "R@5", code=1)["error"]["message"]


@pytest.mark.parametrize(
    "words",
    [
        ("--set", "recall.flor=1"),
        ("--ranker", "rff"),
        ("--embedder", "e6"),
        ("--tier", "tiny"),
        ("--category", "facts"),
        ("--set", "floor"),
    ],
)
def test_what_a_command_line_gets_wrong_is_told_before_anything_runs(
    native: Run, words: tuple[str, str], tmp_path: Path
) -> None:
    assert native(*words, code=1)["error"]["message"]
    assert not (tmp_path / "cache" / "bench").exists()


def test_halves_are_disjoint_and_draws_repeat(native: Run) -> None:
    halves = [set(native("--split", half)["runs"][0]["per_query"]) for half in ("dev", "test")]
    assert halves[0] | halves[1] == {"q1", "q2", "q3", "q4"}
    assert not halves[0] & halves[1]
    drawn = [set(native("--limit", "2", "--seed", "7")["runs"][0]["per_query"]) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 2


def test_latency_includes_the_embedding(native: Run) -> None:
    (report,) = native("--tier", "small,large")["runs"]
    assert {"embed", "vector", "bm25", "total"} <= set(report["latency"])
    assert report["latency"]["embed"]["p50_ms"] > 0
    assert report["latency_tier"] == "large"


def test_gates_and_quotas_are_counted(native: Run, files: list[Path], write: Write) -> None:
    about = {"category": "reflection", "origin": "agent"}
    lessons = [
        {"id": f"r{n}", "text": f"when push {n} fails, wait, because of {n}", **about} for n in range(3)
    ]
    write(files[0], lessons)
    write(files[1], [{"qid": "q", "query": "push 1 fails", "relevant": ["r1"]}])
    row = native("--set", "categories.reflection.gates=[{id: distance, max: 0}]")["runs"][0]["injection"]
    assert row["large"]["gates"]["reflection"] == {
        "relevant_kept": 0, "relevant_dropped": 1, "irrelevant_kept": 0, "irrelevant_dropped": 2,
    }  # fmt: skip
    assert row["large"]["decisions_on_relevant"] == {"gate": 1}
    assert row["large"]["quota_starvation"] == {"share": 0.0, "queries": {}}


def test_a_starved_quota_shows(native: Run, files: list[Path], write: Write) -> None:
    long = "loopback " * 2500  # the first slots spend the block's tokens
    rows = [{"id": "f", "text": f"R1 {long}"}]
    rows += [
        {"id": "g", "text": "R1 loopback guide", "category": "usage_guide", "origin": "directive",
         "metadata": {"intent": "loopback"}}
    ]  # fmt: skip
    write(files[0], rows)
    write(files[1], [{"qid": "q", "query": "R1 loopback guide", "relevant": ["g"]}])
    tight = native("--set", "recall.token_budget={large: 1}", "--tier", "large")["runs"][0]["injection"][
        "large"
    ]
    assert tight["quota_starvation"] == {"share": 1.0, "queries": {"usage_guide": 1}}
    assert tight["decisions_on_relevant"] == {"budget": 1}


def test_a_forbidden_memory_that_comes_up_is_a_leak(native: Run, files: list[Path], write: Write) -> None:
    write(
        files[1],
        [{"qid": "q", "query": "loopback", "agent": "netops", "relevant": ["m1"], "forbidden": ["m2"]}],
    )
    (report,) = native("--fail-over", "leaks=0", code=1)["runs"]
    assert report["leaking_queries"] == ["q"]


def test_tables_and_markdown_for_people(files: list[Path]) -> None:
    words = ["bench", "run", "native", *map(str, files), "--embedder", "hashing", "--ranker", "default,rrf"]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0
    for part in ("R@5 share", "Injection", "Latency", "scope leaks: 0", "Paired differences", "lang:zh->zh"):
        assert part in shown.stdout
    text = CliRunner().invoke(main, [*words, "--markdown"]).stdout
    assert "| lang:zh->zh | 2 |" in text
    assert all(line.endswith("|") for line in text.splitlines() if line.startswith("|"))  # rows stay whole
    assert "Unit: memory. Pool: the agent's scopes." in text


def test_a_suite_of_ones_own_comes_by_the_hook_olav_register_suites() -> None:
    class Tickets:
        @hookimpl
        def olav_register_suites(self) -> list[SuiteSpec]:
            return [SuiteSpec(id="tickets", purpose="Tickets", files="a CSV file", load=lambda paths: None)]  # type: ignore[arg-type, return-value]

    assert set(build_registry([Tickets()]).suites) == {"tickets"}


def test_suites_are_listed(olav: Run) -> None:
    found = {row["id"] for row in olav("bench", "suites")["suites"]}
    assert found >= {"native", "beir", "locomo", "locomo_session", "longmemeval", "store", "behaviour"}
