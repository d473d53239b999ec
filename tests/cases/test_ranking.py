"""Cases 10 to 13 and 15: scopes, quotas, caps, gates and fusion decide as the categories say, at any size."""

from __future__ import annotations

import json

import pytest
from case_workspace import Make, fill, texts_of

import olav_core
from olav_core import Draft, Memory

WORDS = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliet",
    "kilo",
    "lima",
    "mike",
    "november",
    "oscar",
    "papa",
]


def rows(count: int) -> list[str]:
    """Texts that share words and each have one of their own."""
    picks = [[WORDS[(number * step + step) % len(WORDS)] for step in (1, 3, 7)] for number in range(count)]
    return [f"unit u{number} {' '.join(pick)}" for number, pick in enumerate(picks)]


@pytest.fixture(scope="module")
def large(make_shared: Make) -> Memory:
    """10,000 rows in scope `crowd`, one far row in `lonely`, and two categories of very unequal size."""
    memory = make_shared("large")
    fill(memory, rows(10_000), scope="crowd")
    memory.remember("the coffee machine on floor 3 is descaled on Fridays", scope="lonely")
    memory.remember("unit u5 decision: keep it", category="decision", scope="crowd", metadata=DECISION)
    return memory


DECISION = {"approver": "ops"}


@pytest.mark.parametrize("count", [1, 10])
@pytest.mark.parametrize("fuser", ["score_fusion", "rrf"])
def test_case_10_the_exact_stored_text_is_on_top(make: Make, count: int, fuser: str) -> None:
    memory = make(settings=f"recall: {{rankers: [vector, bm25, {fuser}, near_duplicate]}}")
    texts = rows(count)
    fill(memory, texts)
    for text in texts:
        for limit in (1, 2, 13):
            recall = memory.recall(text, limit=limit, tier="large")
            assert recall.items[0].text == text
            assert recall.items[0].distance == pytest.approx(0, abs=1e-5)


def test_case_10_among_ten_thousand_too(large: Memory) -> None:
    for text in rows(10_000)[::997]:
        for limit in (1, 2, 13):
            assert large.recall(text, scopes=["crowd"], limit=limit, log=False).items[0].text == text


@pytest.mark.parametrize("count", [1, 10])
def test_case_10_a_gated_category_passes_its_own_text_at_any_size(make: Make, count: int) -> None:
    """The gate speaks distance, never the fused score, so it does not matter how the fuser scales."""
    for name, fuser in (("sum", "score_fusion"), ("ranks", "rrf")):
        memory = make(name, settings=f"recall: {{rankers: [vector, bm25, {fuser}]}}")
        texts = [f"do not restart unit u{number} {word}" for number, word in enumerate(WORDS[:count])]
        fill(memory, texts, category="reflection")
        for text in texts:
            assert texts_of(memory.recall(text, limit=1)) == [text]
            assert memory.recall("zebras graze in the savanna", tier="large").items == ()


def test_case_11_something_never_stored_injects_nothing_gated(make: Make) -> None:
    memory = make(embedder="e5")
    lessons = [
        "Do not run a full table scan on the telemetry database; filter by device and time first.",
        "不要在没有快照的情况下直接修改核心交换机的配置。",
        "When the BGP neighbour is idle, check the TCP session before resetting it.",
    ]
    fill(memory, lessons, category="reflection")
    for query in (
        "how do I bake sourdough bread at home?",
        "谁赢得了去年的世界杯足球赛？",
        "write a haiku about autumn leaves",
        "what is the capital of Australia",
    ):
        recall = memory.recall(query, tier="large")
        assert recall.items == ()
        assert {trace.decision for trace in recall.trace} == {"gate"}
        assert all(trace.canonical_distance > 0.65 for trace in recall.trace)
    for query, lesson in (
        ("the BGP neighbour is idle, what now?", lessons[2]),
        ("我要修改核心交换机的配置", lessons[1]),
    ):
        assert lesson in texts_of(memory.recall(query, tier="large"))


def test_case_11_a_score_says_the_same_whatever_else_is_stored(make: Make) -> None:
    """Min-max over the candidates would call the best of a bad lot certain."""
    alone, crowded = make("alone"), make("crowded")
    far = "the coffee machine is descaled on Fridays"
    fill(alone, [far])
    fill(crowded, [far, *rows(300)])
    first = alone.search("unit u7 alpha coffee").items[0].score
    second = next(
        item for item in crowded.search("unit u7 alpha coffee", limit=400).items if item.text == far
    )
    assert first < 1
    assert second.score < 1


def test_case_12_one_far_row_in_scope_is_returned_among_ten_thousand_outside(large: Memory) -> None:
    query = "unit u77 alpha"  # every one of the 10,000 is nearer
    assert [item.scope for item in large.search(query, scopes=["lonely"]).items] == ["lonely"]
    recall = large.recall("unit floor alpha", scopes=["lonely"], log=False)
    assert [item.scope for item in recall.items] == ["lonely"]
    assert [trace.scope for trace in recall.trace] == ["lonely"]
    assert {item.scope for item in large.search(query, scopes=["lonely", "crowd"]).items} == {"crowd"}


AGAINST = """
import numpy as np
from olav_core import RankerSpec, hookimpl

class Against:
    def __init__(self, options): ...
    def scores(self, query, pool):
        return np.linspace(-0.2, -0.4, pool.size, dtype=np.float32)

@hookimpl
def olav_register_rankers():
    return [RankerSpec(id="against", stage="retrieve", purpose="Nothing is like the query", factory=Against)]
"""


def test_case_12_the_best_of_a_scope_is_returned_though_it_is_unlike_the_query(make: Make) -> None:
    memory = make(plugins={"against": AGAINST}, settings="recall: {rankers: [against, score_fusion]}")
    fill(memory, ["the only memory"], scope="lonely")
    fill(memory, rows(3), scope="crowd")
    assert texts_of(memory.recall("unit", scopes=["lonely"])) == ["the only memory"]
    crowd = memory.recall("unit", scopes=["crowd"], tier="large")
    assert [trace.decision for trace in crowd.trace] == ["injected", "floor", "floor"]


def test_case_12_a_category_gets_its_best_though_another_has_the_fifty_best(large: Memory) -> None:
    query = "unit u1 alpha delta hotel"
    better = large.search(query, scopes=["crowd"], limit=50)
    assert {item.category for item in better.items} == {"fact"}
    recall = large.recall(query, scopes=["crowd"], tier="large", log=False)
    assert "decision" in {item.category for item in recall.items}
    only = large.recall(query, scopes=["crowd"], category="decision", log=False)
    assert [item.category for item in only.items] == ["decision"]


QUOTAS = """
from olav_core import CategorySpec, GateUse, hookimpl

def category(id, quota, cap, **rest):
    return CategorySpec(id=id, title=id, purpose="For quotas", quota=quota, cap=cap, **rest)

@hookimpl
def olav_register_categories():
    rules = {"crowd": (0, None), "two": (2, 2), "three": (3, 4), "none": (0, 0)}
    return [category(id, quota, cap) for id, (quota, cap) in rules.items()]
"""


@pytest.fixture(scope="module")
def quotas(make_shared: Make) -> Memory:
    memory = make_shared("quotas", plugins={"olav_quotas": QUOTAS})
    for category, count, text in (
        ("crowd", 60, "router restart procedure number {} alpha"),
        ("two", 5, "restart procedure of a router, note {}"),
        ("three", 9, "a router restart happened, event {}"),
        ("none", 3, "router restart procedure alpha {}"),
    ):
        fill(memory, [text.format(number) for number in range(count)], category=category)
    return memory


@pytest.mark.parametrize("limit", [3, 5, 8, 13, 30])
def test_case_12_quotas_reserve_and_caps_hold_from_three_slots_on(quotas: Memory, limit: int) -> None:
    recall = quotas.recall("router restart procedure alpha", limit=limit, tier="large")
    counts = {
        name: [item.category for item in recall.items].count(name)
        for name in ("crowd", "two", "three", "none")
    }
    assert sum(counts.values()) == limit
    assert recall.items[0].category == "crowd", "slot 1 goes by relevance"
    reserved = min(limit - 1, 5)
    assert counts["two"] + counts["three"] >= reserved
    assert counts["two"] <= 2
    assert counts["three"] <= 4
    assert counts["none"] == 0
    if limit >= 6:
        assert counts["two"] == 2
        assert counts["three"] >= 3
    assert {trace.decision for trace in recall.trace if trace.category == "none"} <= {"cap"}


@pytest.mark.parametrize(("tier", "slots"), [("small", 1), ("medium", 2), ("large", 13)])
def test_case_15_at_one_and_two_slots_relevance_decides(quotas: Memory, tier: str, slots: int) -> None:
    recall = quotas.recall("router restart procedure alpha", tier=tier)
    assert (recall.tier, recall.limit, len(recall.items)) == (tier, slots, slots)
    if slots < 3:
        assert {item.category for item in recall.items} == {"crowd"}
        scores = [trace.score for trace in recall.trace if trace.category == "crowd"]
        assert [item.score for item in recall.items] == sorted(scores, reverse=True)[:slots]


def test_case_12_a_quota_never_pads_with_what_no_leg_knows(make: Make) -> None:
    memory = make(settings="recall: {rankers: [bm25, score_fusion]}")
    memory.remember("the border router is r1")
    memory.remember("write reports in Markdown", category="usage_guide", metadata=guide("reports"))
    recall = memory.recall("border router", tier="large")
    assert texts_of(recall) == ["the border router is r1"]
    assert texts_of(memory.search("border router")) == ["the border router is r1"]
    assert memory.recall("zebra", tier="large").items == memory.search("zebra").items == ()


def guide(intent: str, **rest: object) -> dict[str, object]:
    return {"intent": intent, **rest}


STRICT = """
from olav_core import CategorySpec, GateUse, hookimpl

@hookimpl
def olav_register_categories():
    return [CategorySpec(id="strict", title="Strict", purpose="Gated by distance",
                         gates=(GateUse("distance", {{"max": {max!r}}}),))]
"""


@pytest.mark.parametrize(
    "rankers", ["bm25, score_fusion", "bm25, rrf", "vector, bm25, score_fusion", "bm25, vector, rrf"]
)
def test_case_13_a_row_that_only_the_words_know_has_its_distance_and_is_gated(
    make: Make, rankers: str
) -> None:
    memory = make(
        settings=f"recall: {{rankers: [{rankers}]}}", plugins={"olav_strict": STRICT.format(max=0.65)}
    )
    long = "zebra7 " + " ".join(f"filler{number}" for number in range(200))
    memory.remember(long, category="strict")
    memory.remember("zebra7 stands here", category="strict")
    recall = memory.recall("zebra7 stands here", tier="large")
    assert texts_of(recall) == ["zebra7 stands here"]
    (dropped,) = [trace for trace in recall.trace if trace.decision == "gate"]
    assert dropped.leg_scores["bm25"] > 0
    assert dropped.distance is not None
    assert dropped.distance > 0.65
    assert f"{dropped.distance:.3f}" in dropped.reason


@pytest.mark.parametrize("embedder", ["hashing", "minilm"])
def test_case_13_exactly_the_threshold_stays_and_above_it_goes(make: Make, embedder: str) -> None:
    """The gate's option is the distance that a recall measured: it stays there, and goes a hair below."""
    measuring = make("measure", embedder=embedder, plugins={"olav_strict": STRICT.format(max=99.0)})
    measuring.remember("restart the influxdb collector after the disk is full", category="strict")
    query = "the collector of influxdb needs a restart"
    item = measuring.recall(query).items[0]
    distance = item.canonical_distance if measuring.embedder.scale else item.distance
    assert distance is not None
    assert distance > 0
    for name, maximum, injected in (
        ("at", distance, True),
        ("above", distance * 1.000001, True),
        ("below", distance * 0.999999, False),
    ):
        memory = make(name, embedder=embedder, plugins={"olav_strict": STRICT.format(max=maximum)})
        memory.remember(item.text, category="strict")
        recall = memory.recall(query)
        assert bool(recall.items) is injected, (name, recall.trace)
        assert recall.trace[0].decision == ("injected" if injected else "gate")


def test_case_13_the_reflections_own_gate_is_065_and_configurable(make: Make) -> None:
    memory = make()
    (use,) = [use for use in memory.categories["reflection"].gates if use.id == "distance"]
    assert dict(use.options) == {"max": 0.65}
    rules = {"reflection": {"gates": ["active", {"id": "distance", "max": 0.0001}]}}
    strict = make("strict", settings="categories: " + json.dumps(rules))
    for each in (memory, strict):
        each.remember("do not restart the collector", category="reflection")
        assert texts_of(each.recall("do not restart the collector")) == ["do not restart the collector"]
    assert strict.recall("do not restart the collector now").items == ()


@pytest.mark.parametrize(
    "settings",
    [
        "categories: {reflection: {gates: [{id: distance, max: near}]}}",
        "recall: {ranker_options: {keyword_boost: {weight: heavy}}}",
        "recall: {ranker_options: {keyword_bost: {weight: 1}}}",
        "recall: {ranker_options: {keyword_boost: {wieght: 1}}}",
        "recall: {ranker_options: {keyword_boost: {weight: .nan}}}",
        "recall: {ranker_options: {vector: {weight: 1}}}",
        "recall: {ranker_options: {score_fusion: {weights: {bm25: .nan}}}}",
        "categories: {reflection: {gates: [{id: distance, maxx: 0.1}]}}",
        "categories: {reflection: {gates: [{id: distance, max: .nan}]}}",
        "categories: {fact: {gates: [{id: evidence, mx: 1}]}}",
    ],
)
def test_case_10_an_option_that_a_stage_does_not_take_is_a_configuration_error(
    make: Make, settings: str
) -> None:
    memory = make(settings=settings)
    memory.remember("a fact")
    with pytest.raises(olav_core.OlavError, match=r"heavy|near|keyword_boost|does not take"):
        memory.recall("a fact")


def test_keyword_boost_is_bounded_and_lifts_only_categories_that_ask(make: Make) -> None:
    memory = make(settings="recall: {ranker_options: {keyword_boost: {weight: 0.2}}}")
    words = [f"keyword{number}" for number in range(30)]
    memory.remember(
        "follow the export convention", category="usage_guide", metadata=guide("export", keywords=words)
    )
    memory.remember("a fact about keyword1 keyword2", tags=words)
    memory.remember(
        "select 1", category="query_pattern", metadata={"question": " ".join(words[:5]), "sql": "select 1"}
    )
    for query in ("keyword1", " ".join(words), "keyword1 " * 50):
        for trace in memory.recall(query, tier="large").trace:
            assert trace.score == pytest.approx(trace.fused + trace.boost, abs=1e-5)
            if trace.category == "usage_guide":
                assert 0 < trace.boost <= 0.2 + 1e-6
            else:
                assert trace.boost == 0
    assert all(trace.boost == 0 for trace in memory.recall("nothing of it", tier="large").trace)


KEYWORDS = (
    ("snapshots", "we take a snapshot first", True),
    ("register_service", "call register_service now", True),
    ("register_service", "call register_services now", False),
    ("register_service", "register the service", False),
    ("bgp", "why is BGP down", True),
    ("bgp", "ebgpx is a word", False),
    ("审批", "变更需要审批流程吗", True),
    ("审批", "变更需要批准吗", False),
    ("core switch", "the core switches are hot", True),
    ("core switch", "switch the core off", False),
    ("10.0.0.1", "ping 10.0.0.1 please", True),
    ("10.0.0.1", "ping 10.0.0.12 please", False),
)


@pytest.mark.parametrize(("keyword", "query", "meant"), KEYWORDS)
def test_an_on_intent_guide_waits_for_its_keyword(make: Make, keyword: str, query: str, meant: bool) -> None:
    memory = make()
    body = "never do this without asking the person on call"
    memory.remember(
        body, category="usage_guide", metadata=guide("asking", keywords=[keyword], load="on_intent")
    )
    recall = memory.recall(query, tier="large")
    assert (body in texts_of(recall)) is meant
    for trace in recall.trace:
        assert trace.decision == ("injected" if meant else "gate"), trace
    always = make("always")
    always.remember(body, category="usage_guide", metadata=guide("asking", keywords=[keyword]))
    assert always.recall(f"{query} {body}").items, "a guide that is not on_intent needs no keyword"


def test_an_on_intent_guide_comes_by_its_meaning_too(make: Make) -> None:
    memory = make(embedder="e5")
    body = "Before a router is rebooted, drain its traffic and tell the person on call."
    memory.remember(
        body,
        category="usage_guide",
        metadata=guide("drain_before_reboot", keywords=["drain"], load="on_intent"),
    )
    assert texts_of(memory.recall("I am about to reboot a router, what comes before?")) == [body]
    assert memory.recall("which pizza is best in Naples?", tier="large").items == ()


def test_near_duplicates_of_a_chosen_memory_are_passed_over(make: Make) -> None:
    memory = make()
    base = "The core router in Frankfurt forwards the traffic of all the branch offices to the data centre"
    texts = [base, base + ".", base + "!", base.upper(), "router r1 is 10.0.0.1", "router r2 is 10.0.0.2"]
    fill(memory, texts, category="decision")
    fill(memory, ["router r1 is 10.0.0.1", "router r2 is 10.0.0.2"], category="fact")
    recall = memory.recall("router in Frankfurt forwards traffic of branch offices", tier="large")
    assert len([text for text in texts_of(recall) if "frankfurt" in text.lower()]) == 1
    passed = [trace for trace in recall.trace if trace.decision == "duplicate"]
    assert passed
    numbers = memory.recall("router r1 r2 10.0.0.1 10.0.0.2", category="fact", tier="large")
    assert sorted(texts_of(numbers)) == ["router r1 is 10.0.0.1", "router r2 is 10.0.0.2"]


@pytest.mark.parametrize("budget", [60, 200, 500, 100_000])
def test_the_token_budget_drops_whole_memories_and_bounds_the_block(make: Make, budget: int) -> None:
    memory = make(settings=f"recall: {{token_budget: {{large: {budget}}}}}")
    fill(
        memory,
        [f"router fact {number} " + "路由器 word " * (number * 20) for number in range(6)],
        category="decision",
    )
    fill(memory, [f"router fact {number} " + "路由器 word " * (number * 20) for number in range(6)])
    recall = memory.recall("router fact 路由器", tier="large")
    assert recall.tokens <= budget
    assert len(recall.items) + sum(t.decision == "budget" for t in recall.trace) == 5  # the caps' sum
    for item in recall.items:
        assert item.text.strip() in recall.block


DECISIONS = {"injected", "gate", "floor", "cap", "duplicate", "budget", "outranked", "gone"}


@pytest.mark.parametrize("limit", [1, 2, 3, 13])
def test_every_candidate_has_a_decision_a_reason_and_its_numbers(quotas: Memory, limit: int) -> None:
    recall = quotas.recall("router restart procedure alpha", limit=limit, tier="large")
    assert [t.id for t in recall.trace if t.decision == "injected"].sort() == [
        i.id for i in recall.items
    ].sort()
    assert {t.id for t in recall.trace if t.decision == "injected"} == {item.id for item in recall.items}
    assert len({trace.id for trace in recall.trace}) == len(recall.trace) > limit
    for trace in recall.trace:
        assert trace.decision in DECISIONS
        assert trace.reason
        assert (
            set(trace.leg_ranks) == set(trace.leg_scores) == {"vector", "bm25", "translated", "identifiers"}
        )
        assert trace.distance is not None
        assert trace.distance == pytest.approx(2 - 2 * trace.leg_scores["vector"], abs=1e-4)
    assert {"embed", "sync", "vector", "bm25", "fuse", "gates", "select", "render", "total"} <= set(
        recall.timings_ms
    )
    assert json.loads(json.dumps(recall.to_dict(explain=True)))["trace"]
    for item in recall.items:
        trace, again = quotas.why(item.id, "router restart procedure alpha", limit=limit, tier="large")
        assert trace is not None
        assert trace.decision == "injected"
        assert [other.id for other in again.items] == [other.id for other in recall.items]


def test_case_15_query_patterns_never_push_out_the_right_guide(make: Make) -> None:
    from guides40 import GUIDES, HARD, PATTERNS

    memory = make(embedder="e5")
    drafts = [
        Draft(text=body, category="usage_guide", origin="directive", metadata=guide(intent, keywords=words))
        for intent, words, body, _ in GUIDES
    ]
    drafts += [
        Draft(text=question, category="query_pattern", metadata={"question": question, "sql": sql})
        for question, sql in PATTERNS
    ]
    assert not [outcome.error for outcome in memory.remember_many(drafts) if outcome.error]
    assert len(GUIDES) == 40
    assert len(PATTERNS) == 20
    for limit in (1, 2, 13):
        missed = [
            (question, [item.text[:60] for item in recall.items])
            for _, _, body, question in GUIDES
            if body not in texts_of(recall := memory.recall(question, limit=limit, tier="large"))
        ]
        assert not missed, (limit, missed)
    bodies = {intent: body for intent, _, body, _ in GUIDES}
    for intent, question in HARD:
        assert bodies[intent] in texts_of(memory.recall(question, tier="large")), question


@pytest.mark.parametrize("half", [0, 1])
def test_case_15_a_guides_own_question_answered_by_sql_before_still_brings_the_guide(
    make: Make, half: int
) -> None:
    """The worst case: twenty of the questions, word for word, captured with SQL about the same things."""
    from guides40 import GUIDES, PATTERNS
    from olav_query_capture import QueryCapture

    memory = make(embedder="e5")
    drafts = [
        Draft(text=body, category="usage_guide", origin="directive", metadata=guide(intent, keywords=words))
        for intent, words, body, _ in GUIDES
    ]
    assert not [outcome.error for outcome in memory.remember_many(drafts) if outcome.error]
    capture = QueryCapture(memory, scope="global")
    asked = [GUIDES[2 * number + half] for number in range(20)]
    for (_, _, _, question), (_, sql) in zip(asked, PATTERNS, strict=True):
        assert capture.store(question, sql).outcome == "stored"
    for limit in (1, 2, 13):
        missed = [
            question
            for _, _, body, question in asked
            if body
            not in texts_of(memory.recall(question, limit=limit, tier="small" if limit < 3 else "large"))
        ]
        assert not missed, (limit, missed)


def test_case_15_captured_queries_serve_paraphrases_and_schema_words(make: Make) -> None:
    from guides40 import PATTERNS
    from olav_query_capture import QueryCapture

    memory = make(embedder="e5")
    capture = QueryCapture(memory, scope="global")
    ids = {sql: capture.store(question, sql).id for question, sql in PATTERNS}
    for query, sql in (
        ("bgp peers in state idle", PATTERNS[1][1]),
        ("interfaces without a description", PATTERNS[4][1]),
        ("links with more than 70% load", PATTERNS[9][1]),
        ("没有快照的设备有哪些", PATTERNS[11][1]),
        ("还没批准的变更单", PATTERNS[12][1]),
        ("down 的接口列表", PATTERNS[13][1]),
        ("哪些 BGP 邻居是 idle", PATTERNS[1][1]),
        ("which changes have no approval yet?", PATTERNS[12][1]),
        ("ip_plan prefix", PATTERNS[8][1]),
        ("firmware version of device", PATTERNS[17][1]),
    ):
        found = [item.id for item in memory.search(query, category="query_pattern", limit=2).items]
        assert ids[sql] in found, query
