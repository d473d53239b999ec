"""Cases 1 to 4: what stands in ids, scopes, categories and tags is data on every path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from case_workspace import Make, fill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import olav_core
from olav_core import Draft, Memory, OlavError, RecordError, UnknownIdError

INJECTIONS = (
    "x' OR 1=1 --",
    "' OR ''='",
    "x'; DROP TABLE memory; --",
    "%",
    "_",
    "*",
    "\\' OR 1=1 --",
    "') OR ('1'='1",
)
ODD = (
    "o'brien",
    "back\\slash",
    'quo"te',
    "new\nline",
    "semi;colon",
    "emoji 👩‍👩‍👧",
    "设备/核心",
    "tab\there",
    "%",
    "a_b",
    "=1",
    "<b>&amp;",
)
PAIRS = (
    ("user_1", "userA1"),
    ("tenant/acme", "tenant/acme-corp"),
    ("team:net", "team:network"),
    ("Ops", "ops"),
    ("a%", "ab"),
    ("网络", "网络组"),
    ("global-eu", "global"),
    ("x", "x'"),
    ("é", "e\u0301"),  # composed and decomposed: two names, as the operator wrote them
)


@pytest.mark.parametrize("evil", INJECTIONS)
def test_case_1_an_injected_condition_touches_nothing_else(memory: Memory, evil: str) -> None:
    kept = fill(memory, [f"device r{number} is up" for number in range(5)])

    def refused(call: Callable[[], Any]) -> None:
        with pytest.raises((UnknownIdError, RecordError)):
            call()

    refused(lambda: memory.get(evil))
    refused(lambda: memory.forget(evil))
    refused(lambda: memory.why(evil, "device"))
    refused(lambda: memory.recall("device", category=evil))
    refused(lambda: memory.search("device", category=evil))
    refused(lambda: memory.remember("device", category=evil))
    refused(lambda: memory.remember("device", origin=evil))
    assert memory.list(category=evil) == memory.list(scopes=[evil]) == memory.list(origin=evil) == []
    assert memory.recall("device", scopes=[evil]).items == memory.search("device", scopes=[evil]).items == ()
    assert not [item for item in memory.recall("device", agent=evil).items if item.scope != "global"]
    stored = memory.remember(
        f"device of {evil}", scope=evil, tags=[evil], metadata={"subject": evil, "source": evil}
    )
    assert not memory.remember(
        f"device of {evil}", scope=evil, tags=[evil], metadata={"subject": evil, "source": evil}
    ).created
    assert [record.id for record in memory.list(scopes=[evil])] == [stored.id]
    assert memory.forget(stored.id) == stored.id
    memory.optimize()
    assert sorted(record.id for record in memory.list()) == sorted(kept)


@pytest.mark.parametrize("odd", ODD)
def test_case_2_odd_scopes_tags_and_values_round_trip_on_every_read_path(
    memory: Memory, cli: Callable[..., Any], odd: str
) -> None:
    metadata = {"subject": odd, "source": odd}
    text = f"a fact with {odd} in it"
    stored = memory.remember(text, scope=odd, tags=[odd], metadata=metadata)
    memory.remember(f"a fact with {odd} in it, elsewhere", scope="other")
    record = memory.get(stored.id)
    assert (record.text, record.scope, record.tags) == (text, odd, (odd,))
    said = {name: value for name, value in record.metadata.items() if value and name != "status"}
    assert said == metadata
    assert memory.list(scopes=[odd]) == [record]
    for recall in (
        memory.recall("a fact", scopes=[odd]),
        memory.recall("a fact", agent=odd),
        memory.search("a fact", scopes=[odd]),
    ):
        assert [item.record for item in recall.items] == [record]
    trace, _ = memory.why(stored.id, "a fact", agent=odd)
    assert trace is not None
    assert trace.scope == odd
    shown = cli(memory, "kb", "show", stored.id)
    assert (shown["text"], shown["scope"], shown["tags"]) == (text, odd, [odd])
    assert shown["metadata"] == record.metadata
    assert [item["id"] for item in cli(memory, "kb", "list", "--scope", odd)["items"]] == [stored.id]
    assert [item["scope"] for item in cli(memory, "recall", "a fact", "--scope", odd)["items"]] == [odd]
    assert cli(memory, "kb", "status")["scopes"][odd] == 1
    memory.optimize()
    memory.close()
    with olav_core.open(memory.workspace.root) as again:
        assert again.recall("a fact", scopes=[odd]).items[0].record == again.get(stored.id)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    scope=st.text(
        st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), min_size=1, max_size=40
    )
)
def test_case_2_any_scope_is_kept_exactly_or_refused_with_a_reason(memory: Memory, scope: str) -> None:
    try:
        stored = memory.remember(f"scope text {scope}", scope=scope)
    except RecordError:  # blanks at its edges, or none but blanks
        assert scope != scope.strip() or scope == "team:"
        return
    assert memory.get(stored.id).scope == scope
    assert stored.id in [item.id for item in memory.search("scope text", scopes=[scope]).items]
    assert stored.id in [record.id for record in memory.list(scopes=[scope])]


@pytest.mark.parametrize(("mine", "other"), PAIRS)
def test_case_3_like_scopes_never_leak_on_any_read_path(
    memory: Memory, cli: Callable[..., Any], mine: str, other: str
) -> None:
    for here, there in ((mine, other), (other, mine)):
        marker = f"marker {INDEX[here]} zebra"
        assert memory.remember(marker, scope=here).created
        del there
    own = {scope: f"marker {INDEX[scope]} zebra" for scope in (mine, other)}
    for here, there in ((mine, other), (other, mine)):
        seen: dict[str, list[str]] = {
            "recall": [
                item.text for item in memory.recall("marker zebra", scopes=[here], tier="large").items
            ],
            "search": [item.text for item in memory.search("marker zebra", scopes=[here]).items],
            "trace": [trace.scope for trace in memory.recall("marker zebra", scopes=[here]).trace],
            "list": [record.text for record in memory.list(scopes=[here])],
            "block": memory.recall("marker zebra", scopes=[here], tier="large").block.splitlines(),
            "cli recall": [
                i["text"] for i in cli(memory, "recall", "marker zebra", "--scope", here)["items"]
            ],
            "cli list": [item["text"] for item in cli(memory, "kb", "list", "--scope", here)["items"]],
        }
        assert own[here] in seen["recall"]
        assert own[here] in seen["cli list"]
        for path, found in seen.items():
            assert not [text for text in found if text == there or own[there] in text], path
        if "global" not in (here, there):
            agent = memory.recall("marker zebra", agent=here, tier="large")
            enriched = memory.enrich([{"role": "user", "content": "marker zebra"}], agent=here, tier="large")
            assert own[there] not in agent.block + str(enriched)
            assert own[here] in agent.block
            (record,) = memory.list(scopes=[there])
            assert memory.why(record.id, "marker zebra", agent=here)[0] is None


INDEX = {
    scope: f"m{number:03}"
    for number, scope in enumerate(dict.fromkeys(name for pair in PAIRS for name in pair))
}


def test_case_3_an_agent_sees_its_teams_only_when_they_are_configured(make: Make) -> None:
    memory = make(settings="agents:\n  netops: {teams: [ops, 'team:noc']}")
    for scope in ("team:ops", "team:noc", "team:op", "netops", "netops2", "global"):
        memory.remember(f"marker of {scope}", scope=scope)
    seen = {item.scope for item in memory.recall("marker of", agent="netops", limit=50, tier="large").items}
    assert memory.recall("marker", agent="netops").scopes == ("netops", "team:ops", "team:noc", "global")
    assert seen <= {"netops", "team:ops", "team:noc", "global"}
    assert {item.scope for item in memory.search("marker of", agent="services").items} == {"global"}


@pytest.mark.parametrize("scopes", ["global", b"global", [1], [""], [" x"], ["team:"], ["\ud800"], [None]])
def test_case_3_scopes_that_are_no_list_of_scopes_are_refused_not_read_as_something_else(
    memory: Memory, scopes: Any
) -> None:
    memory.remember("a global fact")
    for call in (
        lambda: memory.recall("fact", scopes=scopes),
        lambda: memory.search("fact", scopes=scopes),
        lambda: memory.list(scopes=scopes),
    ):
        with pytest.raises(RecordError):
            call()
    assert memory.recall("fact", scopes=[]).items == ()
    assert memory.list(scopes=[]) == []


CATEGORY = """
from olav_core import CategorySpec, hookimpl

@hookimpl
def olav_register_categories():
    return [CategorySpec(id={id!r}, title="Odd", purpose="A category with an odd name")]
"""


@pytest.mark.parametrize("id", ["change-log", "change_log", "c2"])
def test_case_4_category_names_that_are_accepted_work_end_to_end(
    make: Make, cli: Callable[..., Any], id: str
) -> None:
    memory = make(plugins={"olav_odd": CATEGORY.format(id=id)})
    stored = memory.remember("the core switch was replaced", category=id, scope="a.b/c d-网")
    assert stored.id.startswith(f"{id}:")
    assert memory.recall("core switch", category=id, scopes=["a.b/c d-网"]).items[0].id == stored.id
    assert memory.recall("core switch", agent="a.b/c d-网").items[0].category == id
    assert cli(memory, "kb", "list", "--category", id)["items"][0]["id"] == stored.id
    assert cli(memory, "kb", "status")["categories"] == {id: 1}
    assert memory.forget(stored.id[: len(id) + 9]) == stored.id


@pytest.mark.parametrize(
    "id", ["change.log", "change/log", "change log", "变更", "Change", "x' OR 1=1 --", "", "-a"]
)
def test_case_4_category_names_that_are_not_are_refused_at_registration_with_the_reason(
    make: Make, id: str
) -> None:
    memory = make(plugins={"olav_odd": CATEGORY.format(id=id)})
    assert id not in memory.categories
    assert any(repr(id) in str(fault) or "[a-z]" in str(fault) for fault in memory.registry.faults)
    with pytest.raises(OlavError):
        memory.remember("text", category=id)
    assert memory.remember("the rest works").created


def test_case_4_scopes_survive_a_bulk_write(memory: Memory) -> None:
    scopes = [*ODD, *INDEX]
    drafts = [
        Draft(text=f"bulk row {number}", category="fact", scope=scope) for number, scope in enumerate(scopes)
    ]
    assert not [outcome.error for outcome in memory.remember_many(drafts) if outcome.error]
    for number, scope in enumerate(scopes):
        assert [record.text for record in memory.list(scopes=[scope])] == [f"bulk row {number}"]


@pytest.mark.parametrize("scope", ["\x1b[31mred", "a\x07b", "a\rb", "a\x9b2Jb", "a\x7fb"])
def test_case_4_a_scope_that_a_terminal_would_obey_is_refused(memory: Memory, scope: str) -> None:
    with pytest.raises(RecordError, match="control character"):
        memory.remember("a fact", scope=scope)
    with pytest.raises(RecordError, match="control character"):
        memory.recall("a fact", agent=scope)
