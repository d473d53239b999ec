"""What the contract suite says to a plug-in that breaks it: what happened, why it matters, the mend."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from langchain.agents.middleware import AgentMiddleware

from olav_core import (
    CategorySpec,
    ConfirmationSpec,
    Draft,
    EmbedderSpec,
    Fault,
    Finding,
    GateSpec,
    GateUse,
    ImporterSpec,
    MiddlewareSpec,
    ModelIdentity,
    RankerSpec,
    RedactorSpec,
    VerbMatcherSpec,
    Verdict,
    hookimpl,
)
from olav_core.testing import CONTRACTS, ContractBreach, FakeDistributions, GateContract, make_candidate


def plugin(**specs: Any) -> types.ModuleType:
    """A plug-in module that returns these specs, one of each kind."""
    module = types.ModuleType("olav_faulty")
    for kind, spec in specs.items():
        setattr(module, f"olav_register_{kind}", hookimpl(_returning(spec)))
    return module


def _returning(spec: Any) -> Callable[[], list[Any]]:
    def register() -> list[Any]:
        return [spec]

    register.__module__ = "olav_faulty"
    return register


def breach(kind: str, spec: Any, rule: str, *, also: dict[str, Any] | None = None, **samples: Any) -> str:
    contract = CONTRACTS[kind].of(plugin(**{kind: spec}, **(also or {})), spec.id, **samples)
    with pytest.raises(ContractBreach) as caught:
        getattr(contract, f"test_{rule}")()
    text = str(caught.value)
    assert "\n  Why it matters: " in text
    assert "\n  Mend: " in text
    return text


# --- categories ---------------------------------------------------------------------------------


@frozen
class Ticket:
    number: str = ""
    seen: list[str] = field(factory=list)


def category(**change: Any) -> CategorySpec:
    return CategorySpec(**{"id": "faulty", "title": "T", "purpose": "P", "metadata": Ticket, **change})


@frozen
class Drop:
    keep: bool = False

    def decide(self, query: Any, candidate: Any) -> Verdict:
        return Verdict(self.keep, "always")


@pytest.mark.parametrize(
    ("change", "rule", "words"),
    [
        (
            {"dedupe_key": lambda record: f"{record.text}{record.created_at}"},
            "dedupe_key_is_a_function_of_what_the_memory_says",
            "another key when for the same memory, written later",
        ),
        ({"dedupe_key": lambda record: 7}, "it_takes_its_samples", "embed_text or dedupe_key"),
        (
            {"dedupe_key": lambda record: "one"},
            "different_memories_are_different_rows",
            "3 different memories",
        ),
        (
            {"render": lambda record: f"[{record.metadata['number']}]"},
            "functions_take_rows_of_an_earlier_version",
            "render on metadata without its optional fields raised KeyError",
        ),
        (
            {"embed_text": lambda record: record.metadata["number"]},
            "it_takes_its_samples",
            "search text is blank",
        ),
        ({"keywords": lambda record: "E-42"}, "functions_take_any_text", "keywords gave 'E-42'"),
        (
            {"render": lambda record: record.metadata["seen"].append("x") or record.text},
            "functions_are_pure",
            "changed the record's metadata",
        ),
        ({"origins": {"audit"}, "quota": -1}, "it_registers_without_a_fault", "quota is -1"),
        (
            {"gates": (GateUse("nowhere"),)},
            "it_registers_without_a_fault",
            "gate 'nowhere' is not registered",
        ),
    ],
)
def test_categories(change: dict[str, Any], rule: str, words: str) -> None:
    assert words in breach("categories", category(**change), rule)


def test_a_category_that_its_own_gate_always_drops() -> None:
    gate = GateSpec(id="never", purpose="P", factory=lambda options: Drop())
    spec = category(gates=(GateUse("never"),), quota=1, cap=2)
    text = breach("categories", spec, "recall_keeps_its_cap_and_can_inject_it", also={"gates": gate})
    assert "none of its memories is injected" in text
    assert "never: always" in text


def test_a_metadata_class_that_no_value_can_be_made_up_for() -> None:
    @frozen
    class Odd:
        pattern: complex

    text = breach("categories", category(metadata=Odd), "it_takes_its_samples")
    assert "'pattern'" in text
    assert "set `drafts" in text


def test_a_sample_that_the_category_refuses() -> None:
    drafts = [Draft(text="t", category="faulty", metadata={"numbr": "1"})]
    assert "numbr" in breach("categories", category(), "it_takes_its_samples", drafts=drafts)


def test_a_sound_category_passes_whole() -> None:
    spec = category(ttl=timedelta(days=1), cap=2, dedupe_key=lambda r: f"{r.metadata.get('number')}{r.text}")
    CONTRACTS["categories"].of(plugin(categories=spec)).run()


# --- gates --------------------------------------------------------------------------------------


def gate(decide: Callable[[Any], Any]) -> GateSpec:
    return GateSpec(
        id="faulty",
        purpose="P",
        factory=lambda o: types.SimpleNamespace(decide=lambda q, c: decide(c)),  # type: ignore[arg-type, return-value]
    )


def _mark(candidate: Any) -> Verdict:
    candidate.score += 1
    return Verdict(True, "marked")


CALLS: list[int] = []


def _every_other(candidate: Any) -> Verdict:
    CALLS.append(1)
    return Verdict(bool(len(CALLS) % 2), "counted")


@pytest.mark.parametrize(
    ("decide", "rule", "words"),
    [
        (lambda c: Verdict(True, ""), "every_verdict_gives_its_reason", "has the reason ''"),
        (lambda c: True, "every_verdict_gives_its_reason", "returned True"),
        (lambda c: Verdict(np.bool_(True), "n"), "every_verdict_gives_its_reason", "plain bool"),  # type: ignore[arg-type]
        (
            lambda c: Verdict(c.canonical_distance <= 0.65, "d"),
            "it_decides_without_a_distance",
            "a candidate without a distance raised TypeError",
        ),
        (
            lambda c: Verdict(c.record.metadata["state"] == "solved", "s"),
            "it_decides_without_metadata",
            "a memory without metadata raised KeyError",
        ),
        (_mark, "it_is_pure", "changed the candidate"),
        (_every_other, "it_is_pure", "three looks at one candidate"),
    ],
)
def test_gates(decide: Callable[[Any], Any], rule: str, words: str) -> None:
    assert words in breach("gates", gate(decide), rule)


def test_a_gate_that_needs_an_option() -> None:
    spec = GateSpec(id="faulty", purpose="P", factory=lambda options: Drop(options["keep"]))
    assert "KeyError: 'keep'" in breach("gates", spec, "it_works_without_options")
    samples = {"options": {"keep": True}, "drops": (make_candidate("x"),)}
    assert "should be dropped" in breach("gates", spec, "its_own_samples_meet_their_fate", **samples)


def test_run_tells_every_breach_at_once() -> None:
    contract = GateContract.of(plugin(gates=gate(lambda c: Verdict(c.distance < 1, ""))))
    with pytest.raises(ExceptionGroup, match="gate faulty breaks 2 rule") as caught:
        contract.run()
    assert all(isinstance(error, ContractBreach) for error in caught.value.exceptions)


# --- redactors ----------------------------------------------------------------------------------


def redactor(redact: Callable[[Any], Any]) -> RedactorSpec:
    return RedactorSpec(id="faulty", purpose="P", redact=redact)


def _mask(value: Any) -> Any:
    if isinstance(value, str) and "CUST-" in value:
        return value.replace("CUST-", "CUST-x"), [Finding("customer")]
    return value, []


def _drop_keys(value: Any) -> Any:
    return ({}, [Finding("all")]) if isinstance(value, dict) and value else (value, [])


def _in_place(value: Any) -> Any:
    if isinstance(value, list) and value:
        value[0] = "***"
        return value, [Finding("first")]
    return value, []


def _quadratic(value: Any) -> Any:
    if isinstance(value, str):
        sum(value.count(value[n : n + 9]) for n in range(0, len(value), 9))
    return value, []


@pytest.mark.parametrize(
    ("redact", "rule", "words"),
    [
        (
            lambda v: (v.replace("a", "a"), []),
            "it_takes_any_json_and_keeps_its_structure",
            "raised AttributeError",
        ),
        (lambda v: v, "it_takes_any_json_and_keeps_its_structure", "unpacks (value, findings)"),
        (_drop_keys, "it_takes_any_json_and_keeps_its_structure", "was a mapping with the keys"),
        (_in_place, "it_leaves_its_argument_alone", "changed its argument"),
        (lambda v: (v, [Finding("x")]), "findings_tell_whether_something_was_masked", "did not change"),
        (_mask, "it_is_idempotent", "is masked again"),
        (_mask, "its_secrets_go_wherever_they_stand", "still in the"),
        (_mask, "harmless_texts_survive", "'CUST-omer service' became"),
        (_quadratic, "its_time_grows_with_the_length", "times as long"),
    ],
)
def test_redactors(redact: Callable[[Any], Any], rule: str, words: str) -> None:
    samples = {"secrets": (("of CUST-123456", "123456"),), "kept": ("CUST-omer service",)}
    assert words in breach("redactors", redactor(redact), rule, **samples)


# --- verb matchers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "rule", "words"),
    [
        (
            {"match": lambda name: "create" if "create" in name else None},
            "tools_that_only_look_are_not_matched",
            "match('list_created_users') gave 'create'",
        ),
        ({"match": lambda name: name.split("_")[0][0]}, "match_takes_any_name", "IndexError"),
        ({"match": lambda name: True}, "match_takes_any_name", "returned True"),
        ({"match": lambda name: None}, "its_own_verbs_are_matched", "expected 'create'"),
        ({"succeeded": lambda result: result["ok"]}, "succeeded_takes_any_result", "raised TypeError"),
        ({"succeeded": lambda result: 1}, "succeeded_takes_any_result", "returned 1"),
        ({"succeeded": lambda result: False}, "results_that_say_so_succeeded", "succeeded('done') is False"),
        (
            {"succeeded": lambda result, tool="": None},
            "results_that_say_so_succeeded",
            "You said so in `failures`",
        ),
        ({"writes": lambda tool, args: args["sql"]}, "writes_takes_any_arguments", "raised TypeError"),
        ({"extend": lambda verbs: lambda name: None}, "extend_adds_verbs_and_loses_none", "frobnicate"),
        ({"languages": ()}, "it_names_its_languages", "names no language"),
    ],
)
def test_verb_matchers(change: dict[str, Any], rule: str, words: str) -> None:
    spec = VerbMatcherSpec(**{"id": "faulty", "purpose": "P", "languages": ("en",), **change})
    samples = {"calls": {"create_user": "create"}, "failures": ({"code": 500},)}
    assert words in breach("verb_matchers", spec, rule, **samples)


# --- confirmation lexicons -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "rule", "words"),
    [
        ({"replies": ("jawohl",)}, "its_replies_confirm", "'jawohl'"),
        ({"yes": ("ja", "no")}, "what_is_no_yes_stays_none", "'no' confirms"),
        ({"fillers": ("but change the name",)}, "what_is_no_yes_stays_none", "'yes, but change"),
        ({"fillers": ("ok",)}, "fillers_alone_say_nothing", "'ok' confirms by itself"),
        ({"yes": ("ja, bitte",)}, "its_phrases_can_be_said", "holds a sign"),
        ({"yes": ("x",)}, "it_takes_any_message", "confirms"),
        ({"languages": ()}, "it_names_its_languages", "names no language"),
        ({}, "its_own_samples", "'gern' does not confirm"),
    ],
)
def test_confirmations(change: dict[str, Any], rule: str, words: str) -> None:
    sound = {"id": "faulty", "purpose": "P", "languages": ("de",), "yes": ("ja",)}
    spec = ConfirmationSpec(**{**sound, **change})
    assert words in breach("confirmations", spec, rule, confirming=("gern",))


# --- agent middleware ---------------------------------------------------------------------------


class Plain(AgentMiddleware[Any, Any, Any]):
    """Fits: it does nothing."""


class Half(Plain):
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request)


class Whole(Half):
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


class Writing(Whole):
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        request.messages[-1].content = "changed"
        return handler(request)


class Silent(Whole):
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return None


class Named(Plain):
    def __init__(self, agent: str) -> None:
        super().__init__()
        self.agent = agent

    @property
    def name(self) -> str:
        return self.agent


ONE = Plain()


@pytest.mark.parametrize(
    ("factory", "rule", "words"),
    [
        (lambda memory, agent: ONE, "each_agent_gets_its_own", "two agents get one object"),
        (lambda memory, agent: Named(agent), "each_agent_gets_its_own", "its name changes"),
        (lambda memory, agent: object(), "it_is_of_its_framework", "not an AgentMiddleware"),
        (lambda memory, agent: Half(), "it_runs_on_both_paths", "not awrap_model_call"),
        (lambda memory, agent: Writing(), "a_model_call_keeps_the_conversation", "changes the messages"),
        (lambda memory, agent: Silent(), "a_model_call_keeps_the_conversation", "never calls the model"),
        (lambda memory, agent: 1 / 0, "it_is_built_from_the_registry", "ZeroDivisionError"),
    ],
)
def test_agent_middleware(factory: Callable[..., Any], rule: str, words: str) -> None:
    spec = MiddlewareSpec(id="faulty", framework="langchain", purpose="P", factory=factory)
    assert words in breach("agent_middleware", spec, rule)


def test_middleware_of_another_framework_is_held_to_the_common_rules_only() -> None:
    spec = MiddlewareSpec(id="other", framework="smol", purpose="P", factory=lambda memory, agent: object())
    CONTRACTS["agent_middleware"].of(plugin(agent_middleware=spec), spec.id).run()


# --- importers ----------------------------------------------------------------------------------


def importer(parse: Callable[[bytes], Any]) -> ImporterSpec:
    return ImporterSpec(
        id="faulty", purpose="P", suffixes=(".faulty",), parse=lambda r, p, raw: parse(raw), category="fact"
    )


@pytest.mark.parametrize(
    ("parse", "rule", "words"),
    [
        (
            lambda raw: ([Draft(text=raw.decode(), category="fact")], []),
            "parse_takes_any_bytes",
            "UnicodeDecodeError",
        ),
        (lambda raw: [Draft(text="x", category="fact")], "parse_takes_any_bytes", "returned"),
        (lambda raw: ([], [Fault("p", 1, "no")]), "its_files_bring_memories", "brings 0 memories"),
        (lambda raw: ([Draft(text="x", category="nowhere")], []), "its_files_bring_memories", "nowhere"),
        (
            lambda raw: ([Draft(text=f"x {object()}", category="fact", tags=(str(CALLS.append(1)),))], []),
            "its_files_bring_memories",
            "other memories",
        ),
    ],
)
def test_importers(parse: Callable[[bytes], Any], rule: str, words: str) -> None:
    assert words in breach("importers", importer(parse), rule, files={"a.faulty": "text"})


def test_an_importer_without_a_sample_file_and_with_another_s_suffix() -> None:
    sound = importer(lambda raw: ([Draft(text="x", category="fact")], []))
    assert "Set `files" in breach("importers", sound, "parse_takes_any_bytes")
    text = breach("importers", sound, "its_suffix_finds_it", files={"a.guide.yaml": "x"})
    assert "is read by guide" in text


# --- rankers ------------------------------------------------------------------------------------


def ranker(stage: Any, **methods: Callable[..., Any]) -> RankerSpec:
    return RankerSpec(
        id="faulty", stage=stage, purpose="P", factory=lambda options: types.SimpleNamespace(**methods)
    )


def _spoil(query: Any, pool: Any, legs: Any) -> Any:
    for scores in legs.values():
        scores += 1
    return next(iter(legs.values()))


@pytest.mark.parametrize(
    ("spec", "rule", "words"),
    [
        (
            ranker("retrieve", scores=lambda q, p: np.ones(3, np.float32)),
            "it_gives_usable_scores_for_any_query",
            "(3,) for 12 rows",
        ),
        (
            ranker("retrieve", scores=lambda q, p: np.full(p.size, np.nan, np.float32)),
            "it_gives_usable_scores_for_any_query",
            "finite: False",
        ),
        (
            ranker("retrieve", scores=lambda q, p: np.ones(p.size)),
            "it_gives_usable_scores_for_any_query",
            "float64",
        ),
        (
            ranker("retrieve", scores=lambda q, p: p.timestamps / p.timestamps[0]),
            "it_takes_an_empty_pool",
            "IndexError",
        ),
        (ranker("fuse", fuse=_spoil), "it_is_pure", "three calls"),
        (
            ranker("fuse", fuse=lambda q, p, legs: legs["vector"] + legs["bm25"]),
            "it_gives_usable_scores_for_any_query",
            "KeyError",
        ),
        (
            ranker("boost", boosts=lambda q, p: (np.array([99]), np.array([0.1]))),
            "it_gives_usable_scores_for_any_query",
            "row numbers of this pool",
        ),
        (
            ranker("boost", boosts=lambda q, p: (np.arange(p.size), np.full(p.size, 50.0))),
            "it_gives_usable_scores_for_any_query",
            "up to 50.0",
        ),
        (
            ranker("rerank", rerank=lambda q, c: [1.0]),
            "it_gives_usable_scores_for_any_query",
            "1 scores for 0 candidates",
        ),
        (
            ranker("diversify", penalty=lambda c, chosen: float("nan")),
            "it_gives_usable_scores_for_any_query",
            "penalty() gave nan",
        ),
        (
            ranker("diversify", penalty=lambda c, chosen: float("inf")),
            "it_gives_usable_scores_for_any_query",
            "Every recall would be empty",
        ),
        (
            ranker("rerank", rerank=lambda q, c: 1 / 0),
            "a_recall_with_it_is_not_degraded",
            "ZeroDivisionError",
        ),
    ],
)
def test_rankers(spec: RankerSpec, rule: str, words: str) -> None:
    assert words in breach("rankers", spec, rule)


# --- embedders ----------------------------------------------------------------------------------


class Sound:
    """Vectors of letter counts: a small, sound embedder to spoil."""

    identity = ModelIdentity(name="letters", revision="1")

    def embed_queries(self, texts: Any) -> Any:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Any) -> Any:
        rows = np.zeros((len(texts), 300), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for one, two in zip(text, text[1:] + " ", strict=True):
                row[(ord(one) * 31 + ord(two)) % 300] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Float64(Sound):
    def embed_passages(self, texts: Any) -> Any:
        return super().embed_passages(texts).astype(np.float64)


class Sorted(Sound):
    def embed_passages(self, texts: Any) -> Any:
        return super().embed_passages(sorted(texts, key=len))


class Cut(Sound):
    def embed_passages(self, texts: Any) -> Any:
        return super().embed_passages([text[:500] for text in texts])


class Long(Sound):
    def embed_passages(self, texts: Any) -> Any:
        return super().embed_passages(texts) * 2


class Batch(Sound):
    def embed_passages(self, texts: Any) -> Any:
        rows = super().embed_passages(texts) - 0.05 * len(texts)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Restless(Sound):
    def __init__(self) -> None:
        self.identity = ModelIdentity(name="letters", revision=str(id(self)))


class Prefixed(Sound):
    identity = ModelIdentity(name="letters", revision="1", query_prefix="query: ")


class Nothing(Sound):
    def embed_passages(self, texts: Any) -> Any:
        return np.stack([super(Nothing, self).embed_passages([text])[0] for text in texts])


class Flat(Sound):
    def embed_passages(self, texts: Any) -> Any:
        return np.full((len(texts), 4), 0.5, np.float32)


class Picky(Sound):
    def embed_passages(self, texts: Any) -> Any:
        if any(not text.isprintable() for text in texts):
            raise ValueError("cannot read this")
        return super().embed_passages(texts)


@pytest.mark.parametrize(
    ("factory", "rule", "words"),
    [
        (Float64, "vectors_are_finite_and_not_zero", "float64"),
        (Sorted, "the_order_is_kept", "agree only to cosine"),
        (Cut, "the_end_of_a_long_text_matters", "differ at the end have the same vector"),
        (Long, "vectors_are_finite_and_not_zero", "gave norms 2.0"),
        (Batch, "a_batch_gives_what_single_texts_give", "in a batch and one by one"),
        (Restless, "its_identity_is_stable", "its identity is"),
        (Prefixed, "prefixes_are_used", "'query: '"),
        (Nothing, "no_texts_give_no_rows", "raised ValueError"),
        (Flat, "different_texts_differ", "two different texts have cosine 1"),
        (Flat, "what_belongs_together_is_nearer", "is nearer to"),
        (Picky, "odd_texts_have_vectors", "cannot read this"),
    ],
)
def test_embedders(factory: type[Sound], rule: str, words: str) -> None:
    spec = EmbedderSpec(id="faulty", title="T", factory=lambda options: factory())
    assert words in breach("embedders", spec, rule, options={"of": factory.__name__})


@pytest.mark.parametrize("name", ["axes", "zh"])
@pytest.mark.parametrize("table", [np.ones((2, 3)), np.ones(4), np.full((4, 4), np.nan)])
def test_an_alignment_of_another_space(name: str, table: np.ndarray) -> None:
    spec = EmbedderSpec(
        id="faulty", title="T", factory=lambda options: Sound(), alignment=lambda: {name: table}
    )
    assert f"{name!r} has shape" in breach("embedders", spec, "its_alignment_has_its_dimension")


def test_a_sound_embedder_passes_whole() -> None:
    spec = EmbedderSpec(id="sound", title="T", factory=lambda options: Sound())
    CONTRACTS["embedders"].of(plugin(embedders=spec)).run()


# --- any kind -----------------------------------------------------------------------------------


def test_an_import_that_costs_everybody(olav_site: FakeDistributions) -> None:
    source = """
        import numpy
        from olav_core import GateSpec, hookimpl

        @hookimpl
        def olav_register_gates():
            return [GateSpec(id="costly", purpose="P", factory=len)]
        """
    olav_site.add("acme-costly", {"costly": "acme_costly"}, {"acme_costly.py": source})
    with pytest.raises(ContractBreach, match="importing acme_costly imports numpy"):
        GateContract.of("acme_costly").test_its_import_is_cheap()
    assert "acme_costly" in sys.modules


def test_a_spec_that_is_not_there_and_one_of_several() -> None:
    two = types.ModuleType("olav_two")

    def olav_register_gates() -> list[GateSpec]:
        return [GateSpec(id=id, purpose="P", factory=lambda options: Drop(True)) for id in ("one", "two")]

    olav_register_gates.__module__ = "olav_two"
    two.olav_register_gates = hookimpl(olav_register_gates)  # type: ignore[attr-defined]
    with pytest.raises(ContractBreach, match="brings 2 specs"):
        GateContract.of(two).test_it_works_without_options()
    with pytest.raises(ContractBreach, match="There is no gate 'three'"):
        GateContract.of(two, "three").test_it_works_without_options()
    GateContract.of(two, "two").run()


def test_a_single_file_can_be_put_to_the_test(tmp_path: Path) -> None:
    file = tmp_path / "olav_file_gate.py"
    file.write_text(
        "from olav_core import GateSpec, Verdict, hookimpl\n"
        "class Keep:\n"
        "    def decide(self, query, candidate):\n"
        "        return Verdict(True, 'kept')\n"
        "@hookimpl\n"
        "def olav_register_gates():\n"
        "    return [GateSpec(id='file_gate', purpose='P', factory=lambda options: Keep())]\n"
    )
    GateContract.of(file).run()
