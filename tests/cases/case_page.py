"""docs/cases.md: which tests hold which case. `python tests/cases/case_page.py` writes the page anew.

A test names its case in its own name (`test_case_12_…`) or in its docstring, its module's or a comment of its
body (`CASES 12`, `CASES 21 and 45`). ELSEWHERE names those that carry no number.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "cases.md"

#: Case -> what holds, in a few words.
CASES = {
    1: "an injected condition in an id, scope, category or tag touches nothing else",
    2: "odd characters in scopes, tags and values round-trip exactly",
    3: "scopes that look alike never leak into one another, on any read path",
    4: "category and scope names work end to end, or are refused with a reason",
    5: "a query that is blank, quoted or without words has a defined result",
    6: "query syntax is only text",
    7: "an identifier inside a text is found by the exact string",
    8: "a Chinese phrase amid a sentence is found by its words alone",
    9: "Chinese under an English-only embedder is warned of",
    10: "no threshold meets a score of another scale; the exact text is on top at any size",
    11: "something never stored injects nothing that is gated",
    12: "a row in scope, and a category's quota, are never lost behind nearer rows of others",
    13: "a row that only the words know has its distance, and a gate sees it",
    14: "a failing ranker leaves the order as it was, and is named",
    15: "query patterns never push out the right guide",
    16: "a wrong pooling, prefix or normalisation is caught",
    17: "recall, capture and learning on and on add no row without a new fact",
    18: "what a tool prints of a forgotten memory does not bring it back",
    19: "the user's words are the query, a block in them is not",
    20: "an answer in prose, fences or thoughts is recovered, else counted as failed, never stored raw",
    21: "one item that the embedder refuses spoils no other",
    22: "a call that was rejected, interrupted or failed is not captured",
    23: "a result of any kind is captured within bounds, or skipped",
    24: "where the verb stands in a tool's name tells a change from a look",
    25: "times and request ids make no other event",
    26: "a later turn captures nothing again, a subagent's call counts once",
    27: "every way to run sees one block, checkpoints none, tokens per turn stay flat",
    28: "redaction takes linear time",
    29: "text that only speaks of secrets survives",
    30: "a secret in raw arguments appears nowhere",
    31: "markup in any field stays inside the fence",
    32: "text that gives orders becomes no rule; plain speech passes",
    33: "a forgotten memory is gone and does not come back by itself",
    34: "a rescan finds and mends what was stored before its redactors",
    35: "racing writers lose and double nothing",
    36: "what another process writes is seen at once",
    37: "versions, files and bytes stay bounded, counts exact",
    38: "kill -9 loses nothing that was acknowledged",
    39: "a key twice in one batch is one row",
    40: "an index that is missing, damaged or behind is caught up by itself",
    41: "a failed maintenance step is reported",
    42: "another dimension is refused, every file stays as it is",
    43: "another model of the same dimension is refused",
    44: "a re-embed resumes, is proven, and never mixes spaces",
    45: "each odd text is decided and spoils no other",
    46: "memory does not grow with the size of the call",
    47: "a fact at the end of a long text is recalled",
    48: "threads and event loops at first use load the model once",
    49: "an import touches only what its directory brought",
    50: "a user's rows survive every installation, import and migration",
    51: "export, wipe, import gives identical rows",
    52: "what is committed is what was shown, after a person's yes in a later turn, or nothing",
    53: "a closed or expired reflection is not injected",
}
ELSEWHERE = {
    1: ["store/test_store_upsert.py::test_injection_in_any_field_touches_nothing_else"],
    2: ["store/test_store_upsert.py::test_any_id_scope_and_tag_round_trip"],
    3: [
        "store/test_store_upsert.py::test_scopes_are_exact",
        "index/test_recall_index.py::test_scopes_are_exact",
    ],
    4: ["host/test_registry.py::test_a_wrong_category_is_refused_with_the_reason_and_alone"],
    5: ["text/test_analyzer.py::test_text_without_words_has_no_terms"],
    6: ["text/test_analyzer.py::test_query_syntax_is_only_text"],
    7: ["text/test_analyzer.py::test_a_long_identifier_is_one_term_that_matches_exactly"],
    8: ["index/test_recall_index.py::test_the_lexical_leg_alone_finds_it"],
    11: ["index/test_bm25.py::test_a_query_the_store_knows_little_of_scores_low"],
    12: [
        "index/test_recall_index.py::test_one_far_row_in_scope_is_found_among_many_outside",
        "index/test_recall_index.py::test_every_category_gives_its_best_whatever_the_others_score",
    ],
    18: [
        "capture/test_capture.py::test_what_was_erased_does_not_come_back_through_a_tool",
        "capture/test_capture.py::test_an_erased_event_stays_erased",
    ],
    19: ["integrations/test_auto_recall.py::test_a_block_that_a_user_pasted_is_no_query_and_is_taken_out"],
    22: [
        "integrations/test_event_capture.py::test_failures_are_not_captured",
        "integrations/test_event_capture.py::test_a_call_that_a_person_rejects_is_not_captured",
        "integrations/test_deepagents.py::test_an_interrupt_in_a_deep_agent_is_a_gate",
    ],
    23: ["integrations/test_event_capture.py::test_results_of_every_kind_are_captured_within_bounds"],
    25: ["capture/test_capture.py::test_the_same_operation_is_one_row_with_a_count_and_a_last_time"],
    26: [
        "integrations/test_event_capture.py::test_later_turns_capture_nothing_again",
        "integrations/test_deepagents.py::test_main_agent_and_subagent_recall_their_own_and_are_captured_once",
    ],
    27: [
        "integrations/test_auto_recall.py::test_every_way_to_run_sees_exactly_one_block_and_checkpoints_none",
        "integrations/test_auto_recall.py::test_ten_turns_keep_the_tokens_per_turn_flat",
        "integrations/test_auto_recall.py::test_a_retried_call_sees_one_block",
    ],
    28: ["redactors/test_redaction_growth.py::test_twice_the_text_takes_at_most_three_times_as_long"],
    29: ["redactors/test_secrets.py::test_harmless_text_stays_as_it_is"],
    35: ["store/test_store_races.py::test_six_processes_write_the_same_keys_once"],
    36: [
        "store/test_store_reader.py::test_another_handle_sees_writes_after_refresh",
        "index/test_recall_index.py::test_another_writers_rows_are_seen_by_the_next_sync",
    ],
    37: ["store/test_store_maintenance.py::test_versions_and_bytes_stay_bounded"],
    39: ["store/test_store_upsert.py::test_a_key_that_repeats_in_a_batch_is_one_row_and_the_last_one_counts"],
    40: [
        "index/test_index_recovery.py::test_a_damaged_index_is_rebuilt_by_itself",
        "index/test_index_recovery.py::test_an_index_that_is_behind_catches_up_on_what_differs",
    ],
    41: ["store/test_store_maintenance.py::test_a_failed_step_is_reported_and_the_others_run"],
    44: ["store/test_store_reembed.py::test_kill_9_at_any_point_resumes_to_an_equal_store"],
    49: [
        "importing/test_directory.py::test_directories_do_not_take_each_others_guides",
        "importing/test_directory.py::test_a_removed_file_is_retired_by_its_own_directory_only",
        "importing/test_directory.py::test_importing_twice_embeds_and_writes_nothing",
        "importing/test_directory.py::test_one_edited_of_54_is_one_embedding",
        "importing/test_directory.py::test_only_the_scope_edited_moves_the_row",
    ],
}
_IN_NAME = re.compile(r"test_case_(\d+)_")
_IN_TEXT = re.compile(r"\bCASES? (\d+(?:(?:, | and )\d+)*)")


def tests_of_file(path: Path) -> Iterator[tuple[str, set[int]]]:
    """Yield every test of a file with the cases that it names."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    everywhere = _numbers(ast.get_docstring(tree) or "") if path.parent != Path(__file__).parent else set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            named = {int(number) for number in _IN_NAME.findall(node.name)}
            yield node.name, named | everywhere | _numbers(ast.get_source_segment(source, node) or "")


def _numbers(text: str) -> set[int]:
    return {int(number) for found in _IN_TEXT.findall(text) for number in re.findall(r"\d+", found)}


@cache
def collect() -> dict[int, list[str]]:
    """Return the tests of each case, as `path::name` below tests/."""
    found: dict[int, list[str]] = defaultdict(list)
    known = set()
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, numbers in tests_of_file(path):
            test = f"{path.relative_to(TESTS).as_posix()}::{name}"
            known.add(test)
            for number in numbers:
                found[number].append(test)
    for number, tests in ELSEWHERE.items():
        gone = sorted(set(tests) - known)
        if gone:
            raise LookupError(f"case {number}: there is no test {', '.join(gone)}. Correct ELSEWHERE.")
        found[number] += [test for test in tests if test not in found[number]]
    return dict(found)


def page() -> str:
    found = collect()
    lines = [
        "# Cases",
        "",
        "Cases that break memory systems, and the tests that hold them; paths are below `tests/`. Written by",
        "`python tests/cases/case_page.py`; `pytest tests/cases -k case_12_` runs those of one case.",
        "",
    ]
    for number, what in CASES.items():
        lines += [f"## {number}. {what[0].upper()}{what[1:]}", ""]
        lines += [f"- `{test}`" for test in found.get(number, [])]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
