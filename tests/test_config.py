"""Settings: the file, the variables, and what they change in the registry's categories."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from olav_core import CategorySpec, ConfigError, GateSpec, GateUse, Registry, Settings
from olav_core.config import DEFAULT_RANKERS

REFLECTION = CategorySpec(
    id="reflection",
    title="R",
    purpose="p",
    quota=1,
    cap=1,
    ttl=timedelta(days=30),
    gates=(GateUse("distance"),),
)
FACT = CategorySpec(id="fact", title="F", purpose="p", cap=3)
REGISTRY = Registry(
    categories={"fact": FACT, "reflection": REFLECTION},
    gates={"distance": GateSpec(id="distance", purpose="p", factory=len)},  # type: ignore[arg-type]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".olav" / "config.yaml"


def load(file: Path, text: str = "", **variables: str) -> Settings:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return Settings.load(file, {f"OLAV_{name}": value for name, value in variables.items()})


def faults(file: Path, text: str = "", **variables: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(file, text, **variables)
    return str(caught.value)


def test_no_file_an_empty_file_and_empty_sections_are_the_defaults(file: Path) -> None:
    assert Settings.load(file, {}) == Settings()
    for text in ("", "# nothing\n", "recall:\nagents:\n", "\ufeffrecall:\n"):
        settings = load(file, text)
        assert settings == Settings()
        assert settings.source == file
    assert settings.embedder.id == "e5"
    assert settings.recall.rankers == DEFAULT_RANKERS
    assert settings.recall.token_budget == {"small": 750, "medium": 1_200, "large": 3_000}


def test_the_default_file_loads_and_is_never_overwritten(file: Path) -> None:
    Settings.write_default(file, embedder="house", options={"url": "http://本地: #1"})
    settings = Settings.load(file, {})
    assert settings.embedder.id == "house"
    assert settings.embedder.options == {"url": "http://本地: #1"}
    uncommented = "".join(
        line.removeprefix("# ")
        if line.startswith(("# agents", "#   netops", "# categories", "#   refl"))
        else line
        for line in file.read_text("utf-8").splitlines(keepends=True)
    )
    example = load(file, uncommented)
    assert example.agents["netops"].teams == ("ops",)
    assert example.categories["reflection"].gates == (GateUse("distance", {"max": 0.65}),)
    with pytest.raises(ConfigError, match="left alone"):
        Settings.write_default(file)
    assert Settings.load(file, {}).agents["netops"].model == "qwen3-8b"


def test_everything_can_be_set_in_the_file(file: Path) -> None:
    settings = load(
        file,
        """
        store: {uri: "s3://bucket/x", storage_options: {region: eu}}
        embedder: {id: openai, options: {model: m, dimensions: 8}}
        recall:
          tier: large
          model: qwen3-8b
          rankers: [vector, rrf]
          ranker_options: {rrf: {k: 10}}
          token_budget: {small: 100}
          resident_rows: 0
          candidates_per_category: 5
          floor: 0.25
          log: false
        tiers: {rules: [{match: "^house-", tier: small}]}
        agents: {netops: {teams: [ops], tier: small}, core: }
        categories: {fact: {quota: 1, cap: null, ttl_days: 0.5, gates: [distance]}}
        """,
    )
    assert settings.store.uri == "s3://bucket/x"
    assert settings.recall.token_budget == {"small": 100, "medium": 1_200, "large": 3_000}
    assert settings.recall.ranker_options == {"rrf": {"k": 10}}
    assert (settings.recall.floor, settings.recall.log, settings.recall.resident_rows) == (0.25, False, 0)
    assert settings.tiers.rules[0].match == "^house-"
    assert settings.agents["core"].teams == ()


def test_every_fault_is_told_at_once_with_path_and_file(file: Path) -> None:
    text = faults(
        file,
        """
        embedder: {id: 5, optons: {}}
        recal: {}
        recall: {tier: smal, floor: 3, token_budget: {small: 0, tiny: 3}, rankers: vector, log: 1}
        tiers: {rules: [{match: "(", tier: small}, {match: a}]}
        agents: {x: {teams: ops}, y: {teams: ["team:"]}}
        categories: {fact: {quota: -1, gates: [{max: 3}], ttl_days: 0}}
        """,
        RECALL_RESIDENT_ROWS="many",
        RECALL_TEIR="x",
    )
    assert str(file) in text
    for line in (
        "embedder.id: expected a string, got 5 (int)",
        "embedder.optons: there is no such field. Did you mean 'options'?",
        "recal: there is no such field. Did you mean 'recall'?",
        "recall.tier: 'smal' (str) is unknown. Did you mean 'small'?",
        "recall.floor: expected a number of at least 0 and at most 1, got 3",
        "recall.token_budget.small: expected a number of at least 1",
        "recall.token_budget.tiny: 'tiny' (str) is unknown",
        "recall.rankers: expected a list",
        "recall.log: expected true or false",
        "tiers.rules[1].tier: is required and missing",
        "agents.x.teams: expected a list",
        "scope 'team:' names no team",
        "categories.fact.quota: expected a number of at least 0",
        "categories.fact.gates[0]: expected a gate's id",
        "categories.fact.ttl_days: expected a number above 0",
        "OLAV_RECALL_RESIDENT_ROWS (recall.resident_rows): expected a whole number, got 'many'",
        "OLAV_RECALL_TEIR: there is no setting recall.teir. Did you mean 'tier'?",
    ):
        assert line in text
    assert "tiers.rules[0].match: '(' is no regular expression" in faults(
        file, 'tiers: {rules: [{match: "(", tier: small}]}'
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("recall:\n  tier: small\n  tier: large\n", "config.yaml:3: 'tier' is given twice, first in line 2"),
        ("recall: [\n", "config.yaml:2: bad YAML"),
        ("- a\n", "expected `section:` lines, got a list"),
        ("a: !!python/object:os.system x\n", "bad YAML"),
        ("recall: &a [*a]\n", "recall"),
    ],
)
def test_a_file_that_is_no_settings_file(file: Path, text: str, words: str) -> None:
    assert words in faults(file, text)


def test_a_file_in_another_encoding_is_told(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes("agents: {网络: {}}".encode("gb18030"))
    with pytest.raises(ConfigError, match="not UTF-8"):
        Settings.load(file, {})


def test_variables_override_the_file_with_its_types(file: Path) -> None:
    settings = load(
        file,
        "recall: {tier: small, model: m, log: true, token_budget: {large: 9}}\nembedder: {options: {a: 1}}",
        RECALL_TIER="large",
        RECALL_MODEL="null",
        RECALL_LOG="0",
        RECALL_FLOOR="0.5",
        RECALL_TOKEN_BUDGET__SMALL="300",
        RECALL_RANKERS="vector, bm25",
        RECALL_RANKER_OPTIONS__RRF__K="7",
        RECALL_CANDIDATES_PER_CATEGORY="",
        EMBEDDER_ID="minilm",
        EMBEDDER_OPTIONS__URL="http://localhost:1/v1",
        STORE_STORAGE_OPTIONS__KEY="007",
        AGENTS_NETOPS__TEAMS="[ops, core]",
        CATEGORIES_FACT__CAP="null",
        CATEGORIES_FACT__GATES="distance",
    )
    recall = settings.recall
    assert (recall.tier, recall.model, recall.log, recall.floor) == ("large", None, False, 0.5)
    assert recall.token_budget == {"small": 300, "medium": 1_200, "large": 9}
    assert recall.rankers == ("vector", "bm25")
    assert recall.ranker_options == {"rrf": {"k": 7}}
    assert recall.candidates_per_category == 24, "an empty variable counts as unset"
    assert settings.embedder.options == {"a": 1, "url": "http://localhost:1/v1"}
    assert settings.store.storage_options == {"key": "007"}
    assert settings.agents["netops"].teams == ("ops", "core")
    assert settings.categories["fact"].cap is None
    assert settings.categories["fact"].gates == (GateUse("distance"),)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("RECALL", "x", "names no key of recall"),
        ("RECALL_TIER__X", "x", "recall.tier is one value"),
        (
            "RECALL_TIER",
            "huge",
            "OLAV_RECALL_TIER (recall.tier): 'huge' (str) is unknown. Known: large, medium, small.",
        ),
        ("AGENTS_NETOPS__TEEMS", "x", "Did you mean 'teams'?"),
        ("EMBEDDER_OPTIONS", "{a", "the value is not YAML"),
    ],
)
def test_a_wrong_variable_is_named(file: Path, variable: str, value: str, words: str) -> None:
    assert words in faults(file, "", **{variable: value})


def test_other_programs_variables_are_left_alone(file: Path) -> None:
    assert load(file, "", DISABLE="x", STRICT="1", CACHE_DIR="/x", WORKSPACE="/y", TRACE="1") == Settings()


def test_what_may_be_a_key_is_never_shown(file: Path) -> None:
    text = faults(file, "store: {storage_options: {aws_secret_access_key: 12345}}")
    assert "store.storage_options.aws_secret_access_key: expected a string" in text
    assert "12345" not in text
    settings = load(file, "embedder: {options: {api_key: hunter2}}\nstore: {storage_options: {k: hunter2}}")
    assert "hunter2" not in repr(settings)


def test_categories_take_the_workspaces_rules(file: Path) -> None:
    settings = load(
        file,
        """
        categories:
          reflection: {cap: 4, quota: 2, ttl_days: null, half_life_days: 7, gates: []}
          fact: {gates: [{id: distance, max: 0.5}]}
        """,
    )
    categories = settings.apply_to(REGISTRY)
    assert list(categories) == ["fact", "reflection"]
    assert categories["reflection"] == evolve(
        REFLECTION, cap=4, quota=2, ttl=None, half_life=timedelta(days=7), gates=()
    )
    assert categories["fact"] == evolve(FACT, gates=(GateUse("distance", {"max": 0.5}),))
    assert Settings().apply_to(REGISTRY) == REGISTRY.categories


def test_wrong_rules_for_categories_are_all_told(file: Path) -> None:
    settings = load(
        file,
        """
        categories:
          fact: {quota: 9}
          reflecton: {cap: 1}
          reflection: {gates: [distnce, distance, distance]}
        """,
    )
    with pytest.raises(ConfigError) as caught:
        settings.apply_to(REGISTRY)
    text = str(caught.value)
    assert str(file) in text
    assert "categories.fact: quota 9 is above cap 3." in text
    assert "no category 'reflecton' is registered. Did you mean 'reflection'?" in text
    assert "gate 'distnce' is not registered. Did you mean 'distance'?" in text
    assert "named twice" in text


SECTIONS = ["store", "embedder", "recall", "tiers", "agents", "categories", "nonsense"]
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(SECTIONS), VALUES))
def test_any_content_gives_settings_or_a_config_error(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]
) -> None:
    file = tmp_path_factory.getbasetemp() / "any-config.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    try:
        settings = Settings.load(file, {})
    except ConfigError:
        return
    else:
        assert settings.recall.token_budget["small"] >= 1
    finally:
        file.unlink()
