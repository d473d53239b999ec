"""The built-in categories: rules, metadata, identity, what is embedded and what the model reads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from olav_core import CategorySpec, GateUse, MemoryRecord, RecordError, build_registry
from olav_core.host.registry import Registry

Prepare = Callable[..., MemoryRecord]
Spec = Callable[[str], CategorySpec]

RULES = {  # id: quota, cap
    "usage_guide": (3, 3),
    "expert_knowledge": (3, 3),
    "operational_event": (0, 2),
    "reflection": (1, 1),
    "query_pattern": (2, 2),
    "format_guide": (1, 1),
    "fact": (0, 3),
    "decision": (0, 2),
    "preference": (0, 2),
    "audit": (0, 0),
    "topology": (0, 3),
    "document": (0, 3),
}
LEAST: dict[str, dict[str, Any]] = {
    "usage_guide": {"intent": "export_report"},
    "expert_knowledge": {},
    "operational_event": {"tool": "deploy"},
    "reflection": {},
    "query_pattern": {"question": "which?", "sql": "SELECT 1"},
    "format_guide": {"tag": "audit_report"},
    "fact": {},
    "decision": {},
    "preference": {},
    "audit": {"user": "lin", "action": "push"},
    "topology": {},
    "document": {"source": "a.md"},
}
SUPERSEDED: dict[str, Any] = {
    "status": "superseded",
    "superseded_by": "fact:2",
    "superseded_at": "2026-04-15T08:00:00+00:00",
    "supersedes": ["fact:1"],
    "vouched_at": "2026-04-15T00:00:00+00:00",
    "beside": ["fact:3"],
}
FULL: dict[str, dict[str, Any]] = {
    "usage_guide": {
        "intent": "export_report",
        "agent": "core",
        "keywords": ["导出报告"],
        "authority": "platform",
        "load": "on_intent",
        "related": ["never_inline_secrets"],
        "summary_of": "",
        "source": "core/guides/a.guide.yaml",
        "directory": ".",
    },
    "expert_knowledge": {
        "topic": "deploy",
        "samples": 6,
        "sources": ["operational_event:1"],
        "group": "deploy",
        "history": ["- Names are lower case."],
        "terms": ["name", "muc"],
    },
    "operational_event": {
        "tool": "deploy",
        "action": "deploy",
        "args": {"host": "R1", "ports": [1, 2]},
        "result": {"ok": True},
        "verb": "deploy",
        "agent": "netops",
        "run": "run-1",
        "count": 2,
        "calls": ["5f2a"],
    },
    "reflection": {
        "trigger": "a",
        "cause": "b",
        "status": "superseded",
        "superseded_by": "reflection:1",
        "tool": "deploy",
        "seen": 2,
        "sources": ["run-1", "run-2"],
        "closed_at": "2026-04-15T08:00:00+00:00",
    },
    "query_pattern": {
        "question": "which?",
        "sql": "SELECT 1",
        "dialect": "duckdb",
        "tables": ["t"],
        "columns": ["a"],
        "template": "select ?",
        "wordings": ["what?"],
        "uses": 2,
        "failures": 1,
        "seen": ["c1"],
        "last_error": "no such table",
    },
    "format_guide": {"tag": "t", "keywords": ["k"], "source": "a.format.yaml", "directory": "core"},
    "fact": {
        "subject": "R1",
        "attribute": "loopback",
        "value": "10.0.0.1",
        "source": "inventory.csv",
        **SUPERSEDED,
    },
    "decision": {
        "decided_on": "2026-04-15",
        "approver": "amira",
        "ticket": "CHG-1",
        "why": "second exit",
        "devices": ["R1"],
        "recorded_by": "netops",
        "source": "changes.csv",
    },
    "preference": {
        "user": "lin",
        "subject": "answers",
        "attribute": "language",
        "value": "en",
        **SUPERSEDED,
    },
    "audit": {
        "user": "lin",
        "action": "push",
        "outcome": "denied",
        "run": "7",
        "agent": "netops",
        "tool": "push",
        "args": {"device": "R1"},
        "error": "denied by lin",
        "call": "c1",
        "seconds": 0.5,
    },
    "topology": {
        "format": "dot",
        "source": "a.dot",
        "directory": "net",
        "diagram": "Core",
        "title": "Backbone",
        "node": "R1",
        "label": "Router 1",
        "group": "Site A",
        "links": ["R2"],
        "labels": ["eBGP"],
    },
    "document": {
        "source": "a.md",
        "title": "A",
        "section": "B",
        "chunk": 3,
        "page": 9,
        "anchor": "1f",
        "previous": "0e",
        "next": "2a",
        "directory": "docs",
        "contents": False,
    },
}


def test_every_category_of_the_description_is_registered_with_its_rules(registry: Registry) -> None:
    assert {id: (spec.quota, spec.cap) for id, spec in registry.categories.items() if id in RULES} == RULES
    assert not registry.faults


def test_gates_boosts_and_lives(spec: Spec) -> None:
    assert spec("usage_guide").gates == (GateUse("evidence", {"max": 1.45}), GateUse("on_intent"))
    assert spec("usage_guide").boosts == spec("format_guide").boosts == ("keyword_boost",)
    assert spec("reflection").gates == (GateUse("active"), GateUse("distance", {"max": 0.65}))
    assert spec("reflection").ttl == timedelta(days=30)
    assert spec("reflection").global_scope
    assert [id for id in RULES if not spec(id).recallable] == ["audit"]


def test_legacy_schema_categories_need_their_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    legacy = {"schema_knowledge", "value_distribution"}
    for value, expected in ((None, set()), ("0", set()), ("1", legacy)):
        if value is None:
            monkeypatch.delenv("OLAV_LEGACY_SCHEMA_PRIME", raising=False)
        else:
            monkeypatch.setenv("OLAV_LEGACY_SCHEMA_PRIME", value)
        assert set(build_registry().categories) & legacy == expected


@pytest.mark.parametrize("id", RULES)
def test_metadata_takes_every_field_and_needs_only_the_required(
    id: str, prepare: Prepare, spec: Spec
) -> None:
    least, full = prepare(id, LEAST[id]), prepare(id, FULL[id])
    assert full.metadata == FULL[id]
    assert least.metadata.keys() == full.metadata.keys()
    for record in (least, full):
        assert record.search_text.strip()
        assert spec(id).render(record).strip()
        assert record.id.startswith(f"{id}:")


@pytest.mark.parametrize(
    ("id", "change", "field"),
    [
        ("usage_guide", {"authority": "boss"}, "authority"),
        ("usage_guide", {"load": "always"}, "load"),
        ("usage_guide", {"keywords": "one"}, "keywords"),
        ("usage_guide", {"intent": " "}, "intent"),
        ("usage_guide", {"intent": "../../x"}, "intent"),
        ("usage_guide", {"intent": None}, "intent"),
        ("usage_guide", {"inten": "x"}, "inten"),
        ("expert_knowledge", {"samples": -1}, "samples"),
        ("operational_event", {"tool": ""}, "tool"),
        ("operational_event", {"count": 0}, "count"),
        ("operational_event", {"args": [1]}, "args"),
        ("reflection", {"status": "closed"}, "status"),
        ("query_pattern", {"sql": ""}, "sql"),
        ("format_guide", {"tag": ""}, "tag"),
        ("decision", {"devices": "R1"}, "devices"),
        ("decision", {"devices": ["R1", " "]}, "devices"),
        ("decision", {"decided_on": "15.4.2026"}, "decided_on"),
        ("decision", {"ticket": "CHG-1\nCHG-2"}, "ticket"),
        ("fact", {"status": "closed"}, "status"),
        ("audit", {"args": "x"}, "args"),
        ("audit", {"user": ""}, "user"),
        ("topology", {"format": "png"}, "format"),
        ("document", {"chunk": -1}, "chunk"),
        ("document", {"page": "9"}, "page"),
    ],
)
def test_a_bad_value_is_refused_and_its_field_named(
    id: str, change: dict[str, Any], field: str, prepare: Prepare
) -> None:
    with pytest.raises(RecordError, match=field):
        prepare(id, {**LEAST[id], **change})


@pytest.mark.parametrize("id", [id for id in RULES if LEAST[id]])
def test_a_missing_required_field_is_named(id: str, prepare: Prepare) -> None:
    for name in LEAST[id]:
        with pytest.raises(RecordError, match=name):
            prepare(id, {key: value for key, value in LEAST[id].items() if key != name})


def test_agents_may_not_write_guides_nor_anybody_but_audit_the_audit_trail(prepare: Prepare) -> None:
    for id, origin in (
        ("usage_guide", "agent"),
        ("format_guide", "agent"),
        ("audit", "user"),
        ("audit", "agent"),
    ):
        with pytest.raises(RecordError, match="may not write"):
            prepare(id, LEAST[id], origin=origin)


# --- identity: which writes are one row -------------------------------------------------------------

words = st.text(max_size=8)
IDENTITIES: list[tuple[str, dict[str, Any], tuple[str, ...], bool]] = [
    ("usage_guide", {}, ("agent", "intent"), False),
    ("decision", {}, ("ticket", "decided_on"), True),
    ("preference", {}, ("user",), True),
    ("expert_knowledge", {}, ("topic",), True),
    ("topology", {}, ("source", "node"), False),
    ("document", {}, ("source",), False),
    ("audit", {"user": "u", "action": "a"}, ("run",), True),
]


@pytest.mark.parametrize(
    ("id", "fixed", "names", "with_text"), IDENTITIES, ids=[row[0] for row in IDENTITIES]
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_parts_of_a_key_never_run_into_one_another(
    id: str, fixed: dict[str, Any], names: tuple[str, ...], with_text: bool, data: st.DataObject, spec: Spec
) -> None:
    parts = st.tuples(*[words for _ in names], st.sampled_from(["x", "y z"]) if with_text else st.just("x"))
    left, right = data.draw(parts), data.draw(parts)
    if data.draw(st.booleans()):  # the case that a plain join would get wrong
        joined = "".join(left[:-1])
        cut = data.draw(st.integers(0, len(joined)))
        right = (*([joined[:cut], joined[cut:]][: len(names)] + [""] * (len(names) - 2)), left[-1])
    time = datetime(2026, 1, 1, tzinfo=UTC)

    def key(values: tuple[str, ...]) -> str:
        metadata = {**fixed, **dict(zip(names, values[:-1], strict=True))}
        record = MemoryRecord(id="", text=values[-1], category=id, metadata=metadata, timestamp=time)
        return spec(id).dedupe_key(record)

    if id == "topology":  # without a source the text tells diagrams apart
        assume(left[0] and right[0])
    assert (key(left) == key(right)) == (left == right)


def test_an_event_is_one_whatever_its_result_and_the_order_of_its_arguments(prepare: Prepare) -> None:
    first = prepare("operational_event", {"tool": "t", "args": {"a": 1, "b": [2]}, "result": "at 10:00"})
    again = prepare("operational_event", {"tool": "t", "args": {"b": [2], "a": 1}, "result": "at 10:05"})
    other = prepare("operational_event", {"tool": "t", "args": {"a": 1, "b": ["2"]}})
    assert first.id == again.id != other.id


def test_sql_is_one_whatever_its_layout_comments_and_letter_case(prepare: Prepare) -> None:
    def key(sql: str, **more: str) -> str:
        return prepare("query_pattern", {"question": "q", "sql": sql, **more}).id

    base = key("SELECT a FROM t WHERE r='Border'")
    assert base == key("select a\n  from T -- all\nwhere r = 'Border' /* x */ ;")
    assert base != key("SELECT a FROM t WHERE r = 'border'")
    assert base != key("SELECT a FROM t WHERE r='Border'", dialect="duckdb")
    assert key("SELECT 'a''b'") != key("SELECT 'a' 'b'")


def test_sql_of_any_shape_takes_linear_time(prepare: Prepare) -> None:
    for sql in ("/*" * 50_000, "'" * 99_999, '"a' * 50_000, "`" * 99_999, "--" * 50_000):
        assert prepare("query_pattern", {"question": "q", "sql": sql}).id


def test_reflections_are_global_and_one_whatever_their_case_and_blanks(prepare: Prepare) -> None:
    first = prepare("reflection", text="Don't call  take_snapshot.", scope="netops")
    again = prepare("reflection", text="don't call take_snapshot", scope="services")
    assert first.id == again.id
    assert first.scope == "global"
    assert first.expires_at == first.timestamp + timedelta(days=30)


def test_audit_is_append_only(prepare: Prepare) -> None:
    times = [datetime(2026, 1, 1, second=second, tzinfo=UTC) for second in (0, 1, 1)]
    ids = [prepare("audit", LEAST["audit"], timestamp=time).id for time in times]
    assert ids[0] != ids[1] == ids[2]


def test_diagrams_without_a_source_are_told_apart_by_their_text(prepare: Prepare) -> None:
    assert prepare("topology", text="graph TD").id != prepare("topology", text="graph LR").id
    of_file = {"source": "a.mmd", "node": "R1"}
    assert prepare("topology", of_file, text="old").id == prepare("topology", of_file, text="new").id


def test_the_scope_is_part_of_the_identity(prepare: Prepare) -> None:
    assert prepare("fact", scope="netops").id != prepare("fact", scope="services").id


# --- what is embedded, what is read ------------------------------------------------------------------


def test_a_guide_is_found_by_intent_words_keywords_and_body(prepare: Prepare, spec: Spec) -> None:
    record = prepare("usage_guide", FULL["usage_guide"], text="body text")
    assert record.search_text == "export report\n导出报告\nbody text"
    assert spec("usage_guide").render(record) == "body text"
    keywords = spec("usage_guide").keywords
    assert keywords is not None
    assert keywords(record) == ["导出报告"]


def test_a_query_pattern_is_found_by_its_question_tables_columns_and_values(
    prepare: Prepare, spec: Spec
) -> None:
    sql = "SELECT hostname, asn FROM netops.v_devices WHERE role = 'border' -- note\nLIMIT 10"
    record = prepare("query_pattern", {"question": "哪些是边界路由器？", "sql": sql, "dialect": "duckdb"})
    assert record.search_text == "边界路由器\nhostname asn netops.v_devices netops v devices role border"
    assert spec("query_pattern").render(record) == f"Q: 哪些是边界路由器？\nSQL (duckdb): {sql}"


def test_an_event_is_found_by_its_tool_as_words_arguments_and_result(prepare: Prepare, spec: Spec) -> None:
    record = prepare(
        "operational_event",
        {
            "tool": "register_service",
            "args": {"name": "influx", "opts": {"port": 8086}},
            "result": "ok",
            "count": 3,
        },
    )
    assert record.search_text == "register_service register service\nname influx\nopts.port 8086\nok"
    rendered = spec("operational_event").render(record)
    assert rendered.splitlines() == [
        "Action: register_service",
        'Args: {"name": "influx", "opts": {"port": 8086}}',
        "Result: ok",
        "Seen 3 times",
    ]


def test_a_long_result_is_cut_for_the_model(prepare: Prepare, spec: Spec) -> None:
    record = prepare("operational_event", {"tool": "t", "args": {"a": "x" * 5000}, "result": ["y" * 5000]})
    assert len(spec("operational_event").render(record)) < 1400
    assert len(record.search_text) <= 2000


def test_a_node_is_found_by_its_own_name_not_by_its_neighbours(prepare: Prepare) -> None:
    text = "wan: R1 is connected to → R2 (10G); ← ISP-A; → R1-b"
    record = prepare("topology", {"source": "a", "node": "R1", "links": ["R2", "ISP-A", "R1-b"]}, text=text)
    assert record.search_text == "R1\nwan: R1 is connected to (10G)"
    alone = prepare("topology", {"source": "a", "node": "R1"}, text="uplinks of R1")
    assert alone.search_text == "uplinks of R1"


def test_render_adds_what_the_text_does_not_say(prepare: Prepare, spec: Spec) -> None:
    decision = prepare("decision", FULL["decision"], text="CHG-1: eBGP approved")
    assert spec("decision").render(decision) == (
        "[2026-04-15, approved by amira] CHG-1: eBGP approved\nWhy: second exit"
    )
    assert spec("preference").render(prepare("preference", FULL["preference"], text="short")) == "lin: short"
    assert (
        spec("preference").render(prepare("preference", FULL["preference"], text="lin: short"))
        == "lin: short"
    )
    assert spec("document").render(prepare("document", FULL["document"], text="t")) == "[A › B, p. 9] t"
    assert (
        spec("format_guide").render(prepare("format_guide", FULL["format_guide"], text="H2"))
        == "Format of t:\nH2"
    )


@pytest.mark.parametrize(("status", "keep"), [("active", True), ("superseded", False), ("resolved", False)])
def test_a_closed_reflection_does_not_pass_its_gate(
    status: str, keep: bool, registry: Registry, prepare: Prepare
) -> None:
    gate = registry.gate("active").factory({})
    record = prepare("reflection", {"status": status})
    verdict = gate.decide(None, SimpleNamespace(record=record))
    assert verdict.keep is keep
    assert status in verdict.reason


def test_importing_the_categories_is_cheap() -> None:
    modules = [f"olav_{id}" for id in RULES] + ["olav_legacy_schema"]
    code = (
        f"import sys\nfor name in {modules}: __import__(name)\n"
        "print({'yaml', 'numpy', 'lancedb', 'pyarrow', 'cattrs', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_pattern_is_found_by_its_tools_words_in_both_languages_and_by_what_its_events_share(
    prepare: Prepare, spec: Spec
) -> None:
    pattern = spec("expert_knowledge")
    metadata = {"topic": "register_service", "group": "register_service", "terms": ["address", "muc"]}
    row = prepare("expert_knowledge", metadata)
    assert pattern.keywords is not None
    assert list(pattern.keywords(row)) == ["register_service", "register", "service", "注册", "登记", "服务"]
    assert pattern.embed_text is not None
    assert pattern.embed_text(row).splitlines()[-1] == "address muc"
    assert list(pattern.keywords(prepare("expert_knowledge", {"topic": "register_service"}))) == []
