"""OlavStore: what LangGraph and LangMem expect of a store."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool, create_search_memory_tool
from olav_langchain import AutoRecallMiddleware, OlavStore
from olav_langchain.namespace import namespace_of, scope_of

from olav_core import ErasedTextError, Memory, RecordError

LABELS = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=12),
    min_size=1,
    max_size=4,
)


@pytest.fixture
def store(memory: Memory) -> OlavStore:
    return OlavStore(memory)


def keys(found: Any) -> list[str]:
    return [item.key for item in found]


def test_an_item_comes_back_as_it_was_put(store: OlavStore) -> None:
    value = {"content": "dark mode", "n": 1, "f": 2.5, "none": None, "deep": {"list": [1, "二", {"x": True}]}}
    store.put(("users", "ada"), "prefs", value)
    item = store.get(("users", "ada"), "prefs")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (("users", "ada"), "prefs", value)
    assert item.created_at.tzinfo is not None
    assert store.get(("users", "ada"), "other") is None
    assert store.get(("users",), "prefs") is None


def test_putting_again_replaces_the_value_and_keeps_the_creation(store: OlavStore, memory: Memory) -> None:
    rows = memory.store.count()
    store.put(("n",), "k", {"text": "first"})
    first = store.get(("n",), "k")
    store.put(("n",), "k", {"text": "second", "more": 1})
    second = store.get(("n",), "k")
    assert first is not None
    assert second is not None
    assert second.value == {"text": "second", "more": 1}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    assert memory.store.count() == rows + 1


def test_a_deleted_item_is_gone_and_may_be_put_again(store: OlavStore) -> None:
    store.put(("n",), "k", {"text": "first"})
    store.delete(("n",), "k")
    store.delete(("n",), "k")
    assert store.get(("n",), "k") is None
    store.put(("n",), "k", {"text": "first"})
    assert store.get(("n",), "k") is not None


def test_a_text_that_was_forgotten_does_not_come_back(store: OlavStore, memory: Memory) -> None:
    store.put(("n",), "k", {"text": "the old address of R9"})
    memory.forget(memory.list(category="item")[0].id)
    with pytest.raises(ErasedTextError):
        store.put(("n",), "k", {"text": "the old address of R9"})


def test_a_batch_reads_before_it_writes_and_the_last_put_counts(store: OlavStore) -> None:
    store.put(("n",), "a", {"text": "old"})
    results = store.batch(
        [
            PutOp(("n",), "a", {"text": "new 1"}),
            GetOp(("n",), "a"),
            PutOp(("n",), "a", {"text": "new 2"}),
            SearchOp(("n",)),
            ListNamespacesOp(),
        ]
    )
    assert results[0] is None
    assert results[1].value == {"text": "old"}  # type: ignore[union-attr]
    assert keys(results[3]) == ["a"]
    assert results[4] == [("n",)]
    assert store.get(("n",), "a").value == {"text": "new 2"}  # type: ignore[union-attr]


def test_prefixes_are_labels_never_text(store: OlavStore) -> None:
    pairs = [
        ("users", "user_1"),
        ("users", "userA1"),
        ("tenant", "acme"),
        ("tenant", "acme-corp"),
        ("users2", "x"),
    ]
    for number, namespace in enumerate(pairs):
        store.put(namespace, f"k{number}", {"text": f"marker {number} of the tenant"})
    for number, namespace in enumerate(pairs):
        for query in (None, f"marker {number} of the tenant"):
            assert keys(store.search(namespace, query=query)) == [f"k{number}"]
    assert sorted(keys(store.search(("users",)))) == ["k0", "k1"]
    assert sorted(keys(store.search(("tenant",), query="marker"))) == ["k2", "k3"]
    assert len(store.search(())) == 5
    assert store.search(("user",)) == []
    assert store.search(("users", "user_1' OR 1=1 --")) == []


@given(LABELS, LABELS)
def test_namespaces_and_scopes_are_one_to_one(first: list[str], second: list[str]) -> None:
    assert namespace_of(scope_of(first)) == tuple(first)
    assert (scope_of(first) == scope_of(second)) == (first == second)


@pytest.mark.parametrize("namespace", [(), ("",), ("a.b",), ("langgraph", "x")])
def test_bad_namespaces_are_refused(store: OlavStore, namespace: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"x": 1})


@pytest.mark.parametrize("value", [{"x": object()}, {"x": float("nan")}, {"x": {1, 2}}])
def test_values_that_are_not_json_are_refused(store: OlavStore, value: Any) -> None:
    with pytest.raises(RecordError, match="not JSON"):
        store.put(("n",), "k", value)


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"kind": "a"}, {"1", "2"}),
    ({"kind": "a", "score": 2}, {"2"}),
    ({"score": {"$gt": 1}}, {"2", "3"}),
    ({"score": {"$gte": 2, "$lt": 3}}, {"2"}),
    ({"kind": {"$ne": "a"}}, {"3", "4"}),
    ({"score": {"$lte": 1}}, {"1"}),
    ({"kind": {"$eq": "b"}}, {"3"}),
    ({"deep": {"x": 1}}, {"3"}),
    ({"tags": ["p", "q"]}, {"4"}),
    ({"nothing": "here"}, set()),
]


@pytest.mark.parametrize("query", [None, "shared words"])
@pytest.mark.parametrize(("wanted", "expected"), FILTERS)
def test_filters(store: OlavStore, wanted: dict[str, Any], expected: set[str], query: str | None) -> None:
    reference = InMemoryStore()
    for each in (store, reference):
        each.put(("f",), "1", {"text": "shared words one", "kind": "a", "score": 1})
        each.put(("f",), "2", {"text": "shared words two", "kind": "a", "score": 2})
        each.put(("f",), "3", {"text": "shared words three", "kind": "b", "score": 3, "deep": {"x": 1}})
        each.put(("f",), "4", {"text": "shared words four", "score": "high", "tags": ["p", "q"]})
    assert set(keys(store.search(("f",), filter=wanted, query=query))) == expected
    if "$" not in str(wanted):
        assert set(keys(reference.search(("f",), filter=wanted))) == expected


def test_an_unknown_operator_is_an_error(store: OlavStore) -> None:
    store.put(("f",), "1", {"a": 1})
    with pytest.raises(ValueError, match=r"\$like"):
        store.search(("f",), filter={"a": {"$like": "x"}})


def test_search_ranks_pages_and_finds_behind_a_filter(store: OlavStore) -> None:
    texts = [f"router {number} in rack {number % 7}" for number in range(60)]
    store.batch([PutOp(("p",), f"k{n}", {"text": text, "odd": n % 2 == 1}) for n, text in enumerate(texts)])
    store.put(("p",), "best", {"text": "the coffee machine is broken", "odd": True})
    found = store.search(("p",), query="coffee machine", limit=3)
    assert found[0].key == "best"
    assert found[0].score is not None
    pages = [keys(store.search(("p",), query="router rack", limit=10, offset=at)) for at in range(0, 60, 10)]
    assert len({key for page in pages for key in page}) == 60
    odd = store.search(("p",), query="router rack", filter={"odd": True}, limit=25)
    assert len(odd) == 25
    assert all(item.value["odd"] for item in odd)


def test_what_is_not_indexed_is_not_found_by_words_but_by_key(store: OlavStore) -> None:
    store.put(("i",), "hidden", {"text": "zebra"}, index=False)
    store.put(("i",), "chosen", {"title": "zebra crossing", "body": "unrelated giraffe"}, index=["title"])
    assert keys(store.search(("i",), query="zebra")) == ["chosen"]
    assert sorted(keys(store.search(("i",)))) == ["chosen", "hidden"]
    assert store.get(("i",), "hidden") is not None


def test_namespaces_are_listed_by_label(store: OlavStore) -> None:
    for namespace in [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("z",)]:
        store.put(namespace, "k", {"v": 1})
    assert store.list_namespaces(prefix=("a",)) == [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z",)]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d")]
    both = ListNamespacesOp((MatchCondition("prefix", ("a",)), MatchCondition("suffix", ("d",))))
    assert store.batch([both]) == [[("a", "b", "d")]]


def test_other_memories_are_no_items(store: OlavStore) -> None:
    assert store.list_namespaces() == []
    assert store.search(("netops",), query="loopback of router R1") == []


def test_an_item_of_an_agents_namespace_is_recalled_by_that_agent(store: OlavStore, memory: Memory) -> None:
    store.put(("netops",), "k", {"content": "R5 has a spare supervisor card"})
    store.put(("users", "ada"), "k", {"content": "ada likes spare supervisor cards"})
    block = memory.recall("spare supervisor card", agent="netops", tier="large").block
    assert "R5 has" in block
    assert "ada" not in block
    recall = AutoRecallMiddleware(memory, agent="netops", extra_scopes=[scope_of(("users", "ada"))])
    assert "users/ada" in recall.scopes


def test_items_expire_and_reading_prolongs_them(store: OlavStore, memory: Memory) -> None:
    store.put(("t",), "k", {"text": "short lived"}, ttl=10)
    store.put(("t",), "forever", {"text": "long lived"})
    (row,) = [record for record in memory.list(category="item") if record.expires_at]
    soon = datetime.now(UTC) + timedelta(minutes=1)
    memory.store.update_columns([row.id], {"expires_at": [soon]})
    store.get(("t",), "k", refresh_ttl=False)
    assert memory.get(row.id).expires_at == soon
    store.search(("t",))
    prolonged = memory.get(row.id).expires_at
    assert prolonged is not None
    assert prolonged > soon + timedelta(minutes=5)
    memory.store.update_columns([row.id], {"expires_at": [datetime.now(UTC) - timedelta(seconds=1)]})
    assert store.get(("t",), "k") is None
    assert keys(store.search(("t",))) == keys(store.search(("t",), query="lived")) == ["forever"]


def test_async_and_other_processes_see_the_same(store: OlavStore, memory: Memory, tmp_path: Any) -> None:
    import olav_core

    async def use() -> list[str]:
        await asyncio.gather(*(store.aput(("a",), f"k{n}", {"text": f"item {n}"}) for n in range(5)))
        assert (await store.aget(("a",), "k3")).value == {"text": "item 3"}  # type: ignore[union-attr]
        return keys(await store.asearch(("a",), query="item"))

    assert len(asyncio.run(use())) == 5
    with olav_core.open(tmp_path / "ws") as again:
        assert len(OlavStore(again).search(("a",))) == 5


def test_langmems_tools_work_on_it(store: OlavStore) -> None:
    manage = create_manage_memory_tool(namespace=("memories", "ada"), store=store)
    search = create_search_memory_tool(namespace=("memories", "ada"), store=store)
    created = manage.invoke({"content": "Ada prefers dark mode", "action": "create"})
    id = created.rsplit(" ", 1)[-1]
    assert "dark mode" in str(search.invoke({"query": "which mode does Ada prefer?"}))
    manage.invoke({"content": "Ada prefers light mode", "id": id, "action": "update"})
    assert "light mode" in str(search.invoke({"query": "mode"}))
    assert "dark mode" not in str(search.invoke({"query": "mode"}))
    manage.invoke({"id": id, "action": "delete"})
    assert store.search(("memories",)) == []
