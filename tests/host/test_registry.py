"""The registry: what loads, what is refused with which words, and what one fault leaves standing."""

from __future__ import annotations

import logging
import types
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from olav_core import (
    CategorySpec,
    CommandSpec,
    ConfirmationSpec,
    DistanceScale,
    EmbedderSpec,
    Finding,
    GateSpec,
    GateUse,
    ImporterSpec,
    MemoryRecord,
    MiddlewareSpec,
    PluginError,
    RankerSpec,
    RedactorSpec,
    Registry,
    UnknownIdError,
    VerbMatcherSpec,
    build_registry,
    hookimpl,
)
from olav_core.host.plugin import PluginRef

RECORD = MemoryRecord(id="fact:1", text="t", category="fact")
TICKET = CategorySpec(id="ticket", title="Ticket", purpose="Solved tickets")


def plugin(name: str = "acme_plugin", **hooks: Any) -> types.ModuleType:
    """A plug-in module; a value that is not a function becomes what the hook returns."""
    module = types.ModuleType(name)
    for hook, value in hooks.items():
        function = value if callable(value) else _returning(value)
        function.__module__ = name
        setattr(module, hook, hookimpl(function))
    return module


def _returning(value: Any) -> Callable[[], Any]:
    return lambda: value


def ref(plugin: object, distribution: str, *, name: str = "ticket", version: str = "1.0") -> PluginRef:
    return PluginRef(
        name=name,
        distribution=distribution,
        version=version,
        entry_point=f"{distribution.replace('-', '_')}_x",
        load=lambda: plugin,
    )


def build(*plugins: object, **options: Any) -> Registry:
    return build_registry(plugins, **{"disabled": (), "strict": False, **options})


def only_fault(registry: Registry) -> str:
    assert len(registry.faults) == 1, [str(fault) for fault in registry.faults]
    return str(registry.faults[0])


def test_every_register_hook_fills_its_mapping() -> None:
    def factory(options: Any) -> Any:
        return options

    registry = build(
        plugin(
            olav_register_categories=[TICKET],
            olav_register_embedders=[EmbedderSpec(id="house", title="House", factory=factory)],
            olav_register_rankers=[RankerSpec(id="newest", stage="boost", purpose="News", factory=factory)],
            olav_register_gates=[GateSpec(id="open_only", purpose="Open", factory=factory)],
            olav_register_redactors=[RedactorSpec(id="badge", purpose="Badges", redact=lambda v: (v, ()))],
            olav_register_verb_matchers=[
                VerbMatcherSpec(id="de", purpose="German", languages=("de",), match=lambda name: None)
            ],
            olav_register_importers=[
                ImporterSpec(
                    id="tickets",
                    purpose="Dumps",
                    suffixes=(".ticket.json",),
                    parse=lambda root, path, raw: ((), ()),
                    category="ticket",
                )
            ],
            olav_register_commands=[CommandSpec(id="tickets", help="Count.", load=lambda: None)],  # type: ignore[arg-type, return-value]
        )
    )
    assert not registry.faults
    assert registry.category("ticket") is TICKET
    assert registry.embedder("house").title == "House"
    assert registry.ranker("newest").stage == "boost"
    assert registry.gate("open_only").purpose == "Open"
    kinds = ("redactors", "verb_matchers", "importers", "commands")
    assert [list(getattr(registry, kind)) for kind in kinds] == [["badge"], ["de"], ["tickets"], ["tickets"]]
    (info,) = registry.plugins
    assert info.state == "loaded"
    assert info.ids["categories"] == ("ticket",)
    assert registry.owner("gates", "open_only") is info
    with pytest.raises(TypeError):
        registry.categories["x"] = TICKET  # type: ignore[index]


def test_order_is_data_whatever_the_load_order() -> None:
    def ranker(id: str, stage: Any = "boost", priority: int = 50) -> RankerSpec:
        return RankerSpec(id=id, stage=stage, purpose="p", factory=lambda options: None, priority=priority)

    one = ref(plugin(olav_register_rankers=[ranker("z"), ranker("late", priority=90)]), "b-dist", name="one")
    two = ref(plugin(olav_register_rankers=[ranker("y"), ranker("fuse_x", "fuse")]), "a-dist", name="two")
    orders = [list(build(*refs).rankers) for refs in ((one, two), (two, one))]
    assert orders == [["fuse_x", "y", "z", "late"]] * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "Ticket"}, "lower-case ASCII"),
        ({"id": "net.ops"}, "not usable"),
        ({"id": "a/b"}, "not usable"),
        ({"id": "a b"}, "not usable"),
        ({"id": "工单"}, "not usable"),
        ({"id": ""}, "not usable"),
        ({"id": 7}, "not usable"),
        ({"title": " "}, "title is ' '"),
        ({"origins": {"usr"}}, "Did you mean 'user'?"),
        ({"origins": ()}, "nobody may write"),
        ({"quota": 3, "cap": 2}, "quota 3 is above cap 2"),
        ({"quota": -1}, "quota is -1"),
        ({"quota": True}, "quota is True"),
        ({"cap": -1}, "cap is -1"),
        ({"ttl": timedelta(0)}, "ttl is"),
        ({"half_life": 30}, "half_life is 30"),
        ({"metadata": dict}, "not an attrs class"),
        ({"metadata": {"a": 1}}, "not an attrs class"),
        ({"render": "text"}, "cannot be called"),
        ({"dedupe_key": lambda: "x"}, "cannot be called with 1 argument"),
        ({"keywords": 3}, "cannot be called"),
        ({"gates": "distance"}, "gates is 'distance'"),
        ({"gates": ("distance",)}, "GateUse"),
        ({"gates": (GateUse("a"), GateUse("a"))}, "named twice"),
        ({"gates": (GateUse("distnce"),)}, "Did you mean 'distance'?"),
        ({"boosts": ("keyword_bost",)}, "Did you mean 'keyword_boost'?"),
        ({"boosts": ("rrf",)}, "no boost ranker 'rrf'"),
        ({"boosts": "keyword_boost"}, "Give a tuple"),
        ({"recallable": "yes"}, "recallable is 'yes'"),
        ({"default_scope": " x"}, "default_scope"),
    ],
)
def test_a_wrong_category_is_refused_with_the_reason_and_alone(change: dict[str, Any], words: str) -> None:
    wrong = evolve(TICKET, **{"id": "wrong", **change})
    tools = plugin(
        "tools",
        olav_register_gates=[GateSpec(id="distance", purpose="p", factory=lambda options: None)],  # type: ignore[arg-type, return-value]
        olav_register_rankers=[
            RankerSpec(id=id, stage=stage, purpose="p", factory=lambda options: None)  # type: ignore[arg-type]
            for id, stage in (("keyword_boost", "boost"), ("rrf", "fuse"))
        ],
    )
    registry = build(tools, plugin(olav_register_categories=[wrong, TICKET]))
    assert list(registry.categories) == ["ticket"]
    assert words in str(registry.faults[0])
    assert {fault.kind for fault in registry.faults} == {"categories"}


def test_a_metadata_class_must_resolve_at_run_time() -> None:
    @frozen
    class Meta:
        owner: "Nowhere"  # type: ignore[name-defined]  # noqa: F821, UP037

    registry = build(plugin(olav_register_categories=[evolve(TICKET, metadata=Meta)]))
    assert "'Nowhere' is not defined" in only_fault(registry)


@pytest.mark.parametrize(
    ("hook", "spec", "words"),
    [
        ("rankers", RankerSpec(id="x", stage="boots", purpose="p", factory=len), "Did you mean 'boost'?"),  # type: ignore[arg-type]
        (
            "rankers",
            RankerSpec(id="x", stage="boost", purpose="p", factory=len, priority=0.5),
            "priority is 0.5",
        ),  # type: ignore[arg-type]
        ("gates", GateSpec(id="x", purpose="p", factory=None), "cannot be called"),  # type: ignore[arg-type]
        ("gates", GateSpec(id="x", purpose="", factory=len), "purpose"),  # type: ignore[arg-type]
        ("redactors", RedactorSpec(id="x", purpose="p", redact=lambda: None), "1 argument"),  # type: ignore[arg-type, return-value, misc]
        ("verb_matchers", VerbMatcherSpec(id="x", purpose="p", languages="de", match=len), "languages"),  # type: ignore[arg-type]
        ("confirmations", ConfirmationSpec(id="x", purpose="p", languages=("de",), yes=()), "yes is empty"),
        ("confirmations", ConfirmationSpec(id="x", purpose="p", languages=("de",), yes="ja"), "yes is 'ja'"),  # type: ignore[arg-type]
        (
            "agent_middleware",
            MiddlewareSpec(id="x", framework="f", purpose="p", factory=lambda memory: None),  # type: ignore[misc]
            "2 arguments",
        ),
        ("agent_middleware", MiddlewareSpec(id="x", framework="", purpose="p", factory=max), "framework"),
        ("commands", CommandSpec(id="x", help="h", load=lambda a: a), "0 arguments"),  # type: ignore[arg-type, misc]
        (
            "embedders",
            EmbedderSpec(
                id="x",
                title="t",
                factory=len,  # type: ignore[arg-type]
                scale=DistanceScale(hit=0.7, noise=0.4, pool=50, source="s"),
            ),
            "0 <= hit < noise",
        ),
        (
            "importers",
            ImporterSpec(
                id="x", purpose="p", suffixes=(".t",), parse=lambda r, p, b: ((), ()), category="nowhere"
            ),
            "category 'nowhere' is not registered",
        ),
        (
            "importers",
            ImporterSpec(id="x", purpose="p", suffixes=".t", parse=lambda r, p, b: ((), ()), category="c"),  # type: ignore[arg-type]
            "suffixes",
        ),
    ],
)
def test_other_wrong_specs_are_refused(hook: str, spec: Any, words: str) -> None:
    registry = build(plugin(**{f"olav_register_{hook}": [spec]}))
    assert words in only_fault(registry)
    assert not getattr(registry, hook)
    assert registry.plugins[0].state == "broken"


def _hook_raises() -> Any:
    raise ValueError("no such table")


def _hook_with_default(record: Any = None) -> None: ...
def _hook_with_keyword(*, record: Any) -> None: ...
def _hook_with_stars(*arguments: Any) -> None: ...
def _hook_with_typo(recrd: Any) -> None: ...
async def _async_hook(record: Any) -> None: ...


@pytest.mark.parametrize(
    ("hooks", "words"),
    [
        ({"olav_register_categories": _hook_raises}, "raised ValueError: no such table"),
        ({"olav_register_categories": TICKET}, "returned CategorySpec, not a list"),
        ({"olav_register_categories": lambda: None}, "returned NoneType, not a list"),
        ({"olav_register_categories": lambda: (x for x in [TICKET])}, "returned generator, not a list"),
        ({"olav_register_gates": [TICKET]}, "returned CategorySpec where GateSpec is expected"),
        ({"olav_register_categories": [CategorySpec]}, "Return instances"),
        ({"olav_register_category": [TICKET]}, "Did you mean 'olav_register_categories'?"),
        ({"olav_memory_written": _hook_with_default}, "gives record a default"),
        ({"olav_memory_written": _hook_with_keyword}, "keyword-only record"),
        ({"olav_memory_written": _hook_with_stars}, "takes *arguments"),
        ({"olav_memory_written": _hook_with_typo}, "Did you mean 'record'?"),
        ({"olav_register_gates": _hook_with_typo}, "It takes no argument"),
        ({"olav_memory_written": _async_hook}, "is async"),
    ],
)
def test_a_wrong_hook_takes_out_its_plug_in_and_no_other(hooks: dict[str, Any], words: str) -> None:
    good = plugin("good", olav_register_categories=[TICKET])
    broken = plugin("broken", **hooks, olav_register_commands=[])
    for order in ((good, broken), (broken, good)):
        registry = build(*order)
        assert list(registry.categories) == ["ticket"]
        assert words in only_fault(registry)
        assert {info.name: info.state for info in registry.plugins} == {"good": "loaded", "broken": "broken"}


def test_a_failed_hook_leaves_none_of_its_plug_ins_specs() -> None:
    registry = build(plugin(olav_register_categories=[TICKET], olav_register_commands=_hook_raises))
    assert not registry.categories


def test_a_class_a_function_or_an_unmarked_module_is_no_plug_in() -> None:
    class Ticket:
        @hookimpl
        def olav_register_categories(self) -> list[CategorySpec]:
            return [TICKET]

    assert list(build(Ticket()).categories) == ["ticket"]
    assert "it names the class Ticket" in only_fault(build(Ticket))
    assert "not a module" in only_fault(build(ref(_hook_raises, "acme")))
    unmarked = types.ModuleType("unmarked")
    unmarked.olav_register_gates = lambda: []  # type: ignore[attr-defined]
    assert "lacks its mark" in only_fault(build(unmarked))
    assert "implements no hook" in only_fault(build(types.ModuleType("empty")))


def test_equal_plug_in_objects_both_load() -> None:
    @frozen
    class Equal:
        @hookimpl
        def olav_register_categories(self) -> list[CategorySpec]:
            return [TICKET]

    class Other(Equal):  # type: ignore[misc]
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

        @hookimpl
        def olav_register_categories(self) -> list[CategorySpec]:
            return [evolve(TICKET, id="other")]

    assert sorted(build(Equal(), Other()).categories) == ["other", "ticket"]


def test_an_imported_implementation_is_not_registered_twice() -> None:
    owner = plugin("owner", olav_register_categories=[TICKET])
    thief = types.ModuleType("thief")
    thief.olav_register_categories = owner.olav_register_categories  # type: ignore[attr-defined]
    sibling = types.ModuleType("owner.sibling")
    sibling.olav_register_categories = owner.olav_register_categories  # type: ignore[attr-defined]
    for copy in (thief, sibling):
        registry = build(copy, owner)
        assert "imported from owner" in only_fault(registry)
        assert list(registry.categories) == ["ticket"]


def test_two_strangers_with_one_id_are_both_kept_out_and_both_named() -> None:
    one = ref(plugin(olav_register_categories=[TICKET]), "acme-ticket", name="a", version="1.2")
    two = ref(plugin(olav_register_categories=[TICKET, evolve(TICKET, id="own")]), "zeta-desk", name="b")
    for order in ((one, two), (two, one)):
        registry = build(*order)
        assert list(registry.categories) == ["own"]
        first, second = sorted(map(str, registry.faults))
        assert first.startswith("acme-ticket 1.2, entry point 'a = ")
        assert "zeta-desk 1.0" in first
        assert "acme-ticket 1.2" in second
        assert "OLAV_DISABLE=" in first
        with pytest.raises(UnknownIdError, match="registered by others too"):
            registry.category("ticket")
    assert list(build(one, two, disabled=["zeta-desk:b"]).categories) == ["ticket"]


def test_a_built_in_keeps_its_id_and_its_entry_point_name() -> None:
    builtin = ref(plugin(olav_register_categories=[TICKET]), "olav-core")
    usurper = ref(plugin(olav_register_categories=[evolve(TICKET, title="Mine")]), "acme", name="mine")
    namesake = ref(plugin(olav_register_categories=[evolve(TICKET, id="other")]), "acme")
    for rival in (usurper, namesake):
        for order in ((builtin, rival), (rival, builtin)):
            registry = build(*order)
            assert dict(registry.categories) == {"ticket": TICKET}
            assert "olav-core 1.0" in only_fault(registry)
    assert registry.plugins[0].state == "broken"


def test_an_id_twice_in_one_distribution_and_one_suffix_twice_are_faults() -> None:
    registry = build(plugin(olav_register_categories=[TICKET, TICKET]))
    assert not registry.categories
    assert "registered twice here" in str(registry.faults[0])

    def importer(id: str) -> ImporterSpec:
        return ImporterSpec(
            id=id,
            purpose="p",
            suffixes=(".X", f".{id}"),
            parse=lambda r, p, b: ((), ()),
            category="ticket",
        )

    registry = build(
        plugin(olav_register_categories=[TICKET], olav_register_importers=[importer("a"), importer("b")])
    )
    assert not registry.importers
    assert "the suffix '.x'" in str(registry.faults[0])


def test_a_broken_built_in_always_raises_and_tells_every_fault() -> None:
    builtin = ref(plugin(olav_register_categories=_hook_raises), "olav-core", name="one")
    stranger = ref(plugin(olav_register_categories=[evolve(TICKET, quota=-1)]), "acme", name="two")
    with pytest.raises(PluginError, match=r"2 plug-in fault") as caught:
        build(builtin, stranger)
    assert "no such table" in str(caught.value)
    assert "acme 1.0" in str(caught.value)
    assert len(caught.value.faults) == 2
    assert isinstance(caught.value.__cause__, ExceptionGroup)


def test_strict_raises_for_a_stranger_and_a_lenient_build_warns_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = plugin(olav_register_categories=[evolve(TICKET, quota=-1)])
    with caplog.at_level(logging.WARNING):
        build_registry([stranger])
    assert caplog.text.count("quota is -1") == 1
    monkeypatch.setenv("OLAV_STRICT", "1")
    with pytest.raises(PluginError, match="quota is -1"):
        build_registry([stranger])
    monkeypatch.setenv("OLAV_STRICT", "0")
    assert build_registry([stranger]).faults


def test_disable_switches_off_plug_ins_unimported_and_single_specs(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode() -> object:
        raise AssertionError("imported")

    heavy = PluginRef(name="heavy", distribution="acme", load=explode)
    both = plugin(olav_register_categories=[TICKET, evolve(TICKET, id="other")])
    monkeypatch.setenv("OLAV_DISABLE", "heavy, ticket")
    registry = build_registry([heavy, both])
    assert not registry.faults
    assert list(registry.categories) == ["other"]
    assert [info.state for info in registry.plugins] == ["disabled", "loaded"]
    assert registry.plugins[1].disabled_ids == ("ticket",)
    assert "ticket" in registry.absent("categories")
    with pytest.raises(UnknownIdError, match="OLAV_DISABLE"):
        registry.category("ticket")
    monkeypatch.setenv("OLAV_DISABLE", "tickt")
    assert "Did you mean 'ticket'?" in only_fault(build_registry([both]))
    monkeypatch.setenv("OLAV_STRICT", "1")
    assert list(build_registry([both]).categories) == ["other", "ticket"], "a warning never raises"


def test_a_category_goes_on_without_what_is_switched_off() -> None:
    gate = plugin("gates", olav_register_gates=[GateSpec(id="distance", purpose="p", factory=len)])  # type: ignore[arg-type]
    gated = ref(
        plugin(
            olav_register_categories=[evolve(TICKET, gates=(GateUse("distance"),))],
            olav_register_importers=[
                ImporterSpec(
                    id="t", purpose="p", suffixes=(".t",), parse=lambda r, p, b: ((), ()), category="ticket"
                )
            ],
        ),
        "olav-core",
    )
    assert build(gate, gated).category("ticket").gates == (GateUse("distance"),)
    for switch in ("gates", "distance"):
        registry = build(gate, gated, disabled=[switch])
        assert registry.category("ticket").gates == ()
        assert "goes without 'distance'" in only_fault(registry)
    registry = build(gate, gated, disabled=["given:gates", "distance"], strict=True)
    assert registry.category("ticket").gates == ()
    assert not build(gate, plugin(olav_register_categories=[TICKET]), disabled=["ticket"]).importers


def test_unknown_ids_answer_with_the_nearest_and_the_known() -> None:
    registry = build(plugin(olav_register_categories=[TICKET]))
    with pytest.raises(UnknownIdError, match=r"no category 'tiket' is registered. Did you mean 'ticket'\?"):
        registry.category("tiket")
    for look in (registry.embedder, registry.ranker, registry.gate):
        with pytest.raises(UnknownIdError, match="Known: none"):
            look("x")


def test_the_longest_suffix_finds_the_importer() -> None:
    def importer(id: str, suffix: str) -> ImporterSpec:
        return ImporterSpec(
            id=id, purpose="p", suffixes=(suffix,), parse=lambda r, p, b: ((), ()), category="ticket"
        )

    registry = build(
        plugin(
            olav_register_categories=[TICKET],
            olav_register_importers=[importer("yaml", ".yaml"), importer("guide", ".guide.yaml")],
        )
    )
    found = [registry.importer_for(name) for name in ("a/b.guide.yaml", "B.GUIDE.YAML", "b.yaml", "b.txt")]
    assert [spec.id if spec else None for spec in found] == ["guide", "guide", "yaml", None]


def test_redactors_run_in_order_and_sum_their_findings() -> None:
    def masking(old: str, new: str) -> Callable[[Any], tuple[Any, list[Finding]]]:
        return lambda value: (value.replace(old, new), [Finding("badge")])

    registry = build(
        plugin(
            olav_register_redactors=[
                RedactorSpec(id="a", purpose="p", redact=masking("b", "c"), priority=60),
                RedactorSpec(id="z", purpose="p", redact=masking("a", "b"), priority=10),
            ]
        )
    )
    assert registry.redact("a") == ("c", (Finding("badge", 2),))
    assert build(plugin(olav_register_redactors=[])).redact({"x": 1}) == ({"x": 1}, ())


@pytest.mark.parametrize("result", [None, "x", ValueError])
def test_a_redactor_that_fails_holds_the_value_back_and_quotes_nothing(result: Any) -> None:
    def redact(value: Any) -> Any:
        if result is ValueError:
            raise ValueError(f"cannot mask {value}")
        return result

    registry = build(plugin(olav_register_redactors=[RedactorSpec(id="bad", purpose="p", redact=redact)]))
    with pytest.raises(PluginError, match="redactor 'bad'") as caught:
        registry.redact("hunter2")
    assert "hunter2" not in str(caught.value)
    assert caught.value.__context__ is None


def test_an_observer_that_raises_is_logged_once_counted_and_isolated(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[Any] = []

    def raises(record: Any) -> None:
        raise RuntimeError("down")

    registry = build(
        plugin("bad", olav_memory_written=raises, olav_memories_recalled=lambda: seen.append("called")),
        plugin(
            "good",
            olav_memory_written=lambda record: seen.append(record),
            olav_memories_recalled=lambda recall: seen.append(recall),
        ),
    )
    assert not registry.faults
    for _ in range(3):
        registry.notify_written(RECORD)
    registry.notify_recalled("recall")
    assert seen == [RECORD] * 3 + ["called", "recall"]
    assert caplog.text.count("observer olav_memory_written raised RuntimeError") == 1
    assert "plug-in bad" in caplog.text
    (failures,) = registry.observer_failures.values()
    assert failures == 3


@given(
    st.permutations(
        [
            ref(plugin(olav_register_categories=[TICKET, evolve(TICKET, id="a")]), "olav-core", name="one"),
            ref(plugin(olav_register_categories=[TICKET, evolve(TICKET, id="b")]), "acme", name="two"),
            ref(plugin(olav_register_categories=[evolve(TICKET, id="b")]), "beta", name="three"),
            ref(plugin(olav_register_categories=_hook_raises), "gamma", name="four"),
            ref(plugin(olav_register_categories=[evolve(TICKET, id="c")]), "delta", name="five"),
            ref(plugin(olav_register_categories=[evolve(TICKET, id="d")]), "delta", name="five"),
        ]
    )
)
def test_the_registry_is_the_same_for_every_load_order(refs: list[PluginRef]) -> None:
    registry = build(*refs)
    assert dict(registry.categories) == {"a": evolve(TICKET, id="a"), "ticket": TICKET}
    assert sorted({fault.distribution for fault in registry.faults}) == ["acme", "beta", "delta", "gamma"]
