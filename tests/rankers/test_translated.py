"""The leg `translated`: a query in one language finds memories in another, and same-language ones stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import olav_core
from olav_core import LexiconSpec, Memory, hookimpl
from olav_core.testing import LexiconContract, open_workspace, recall_state

TEXTS = {
    "en": "The backup of the billing database runs at two in the night.",
    "zh": "计费数据库的备份在夜里两点运行。",
    "noise": "Visitors park behind the canteen.",
    "rauschen": "访客把车停在食堂后面。",
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    with open_workspace(tmp_path / "w", config={"recall": {"log": False}}) as opened:
        for text in TEXTS.values():
            opened.remember(text, category="fact", scope="global")
        yield opened


def leg(memory: Memory, text: str) -> dict[str, float]:
    state = recall_state(memory, text)
    spec = memory.registry.ranker("translated")
    scores = spec.factory({}).scores(state.query, state.pool)
    names = {text: name for name, text in TEXTS.items()}
    return {
        names[row.text]: float(scores[i]) for i in range(state.pool.size) for row in state.pool.records([i])
    }


def test_it_finds_the_other_language_and_leaves_its_own_to_bm25(memory: Memory) -> None:
    english = leg(memory, "数据库备份")
    assert english["en"] > 0.3
    assert english["zh"] == english["noise"] == english["rauschen"] == 0
    chinese = leg(memory, "database backup")
    assert chinese["zh"] > 0.3
    assert chinese["en"] == chinese["noise"] == chinese["rauschen"] == 0


def test_a_mixed_query_finds_both(memory: Memory) -> None:
    scores = leg(memory, "billing 数据库的 backup 几点跑")
    assert scores["en"] > 0
    assert scores["zh"] > 0
    assert scores["noise"] == scores["rauschen"] == 0


def test_a_part_without_a_translation_lowers_the_whole(memory: Memory) -> None:
    assert leg(memory, "数据库备份")["en"] > leg(memory, "诗歌里写的鲸鱼和数据库备份")["en"] > 0


def test_a_recall_across_languages_puts_the_memory_first(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "w") as memory:
        memory.remember(TEXTS["en"], category="fact", scope="global")
        memory.remember(TEXTS["rauschen"], category="fact", scope="global")
        memory.remember("网关在机房里。", category="fact", scope="global")
        assert memory.search("数据库备份几点开始", limit=1).items[0].text == TEXTS["en"]
        assert memory.search("gateway", limit=1).items[0].text == "网关在机房里。"


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.sampled_from(["备份", "数据库", "网关", "backup", "gateway", "鲸鱼", "poem"]),
        min_size=1,
        max_size=4,
    )
)
def test_no_score_falls_and_an_unrelated_memory_gains_nothing(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    """So an exact match in the query's own language never falls behind an unrelated memory."""
    with open_workspace(tmp_path_factory.mktemp("w")) as memory:
        for text in TEXTS.values():
            memory.remember(text, category="fact", scope="global")
        scores = leg(memory, " ".join(words))
    assert all(0 <= score <= 1 for score in scores.values())
    assert scores["noise"] == scores["rauschen"] == 0


def test_a_teams_lexicon_is_read_with_the_built_in_one(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "w") as memory:
        root = memory.workspace.root
    folder = root / ".olav" / "lexicons"
    folder.mkdir()
    (folder / "team.tsv").write_text("大闸\tmain breaker\n", "utf-8")
    with olav_core.open(root) as memory:
        memory.remember("The main breaker is behind the stage.", category="fact", scope="global")
        memory.remember(TEXTS["noise"], category="fact", scope="global")
        recall = memory.search("大闸", limit=1)
        assert recall.items[0].text.startswith("The main breaker")
        assert not recall.degraded


def test_a_faulty_lexicon_costs_the_leg_and_is_told(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "w") as memory:
        root = memory.workspace.root
    folder = root / ".olav" / "lexicons"
    folder.mkdir()
    (folder / "team.tsv").write_text("# ours\n大闸 main breaker\n", "utf-8")
    with olav_core.open(root) as memory:
        memory.remember(TEXTS["noise"], category="fact", scope="global")
        recall = memory.search("visitors", limit=1)
        assert recall.items
        assert any("team.tsv:2 is no line" in line for line in recall.degraded)


class Plant:
    """A stranger's lexicon."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @hookimpl
    def olav_register_lexicons(self) -> list[LexiconSpec]:
        return [LexiconSpec(id="plant", purpose="Words of the plant", folder=self.folder)]


def test_a_strangers_lexicon_translates_and_keeps_the_contract(tmp_path: Path) -> None:
    (tmp_path / "plant.tsv").write_text("Brenner\tburner\t燃烧器\n", "utf-8")
    with open_workspace(tmp_path / "w", Plant(tmp_path)) as memory:
        memory.remember("The burner needs a new seal.", category="fact", scope="global")
        memory.remember(TEXTS["noise"], category="fact", scope="global")
        assert memory.search("Brenner", limit=1).items[0].text.startswith("The burner")
        assert memory.search("燃烧器", limit=1).items[0].text.startswith("The burner")
    LexiconContract.of(Plant(tmp_path)).run()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Brenner burner\n", "no tab"),
        ("# nothing\n", "holds no line"),
        ("a|A\tb\n", "twice"),
        ("!\t?\n", "found by"),
    ],
)
def test_a_faulty_lexicon_breaks_the_contract(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "plant.tsv").write_text(text, "utf-8")
    with pytest.raises(ExceptionGroup) as breaches:
        LexiconContract.of(Plant(tmp_path)).run()
    assert any(words in str(breach) for breach in breaches.value.exceptions)


def test_a_foreign_word_in_the_querys_own_language_counts_less(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "w") as memory:
        memory.remember("The gateway is in the lab on the second floor.", category="fact", scope="global")
        memory.remember("实验室的 gateway 在二楼，钥匙在前台那里。", category="fact", scope="global")
        state = recall_state(memory, "网关")
        scores = memory.registry.ranker("translated").factory({}).scores(state.query, state.pool)
        english, mixed = sorted(range(2), key=lambda row: "second" not in state.pool.records([row])[0].text)
    assert scores[english] > 2 * scores[mixed] > 0


def test_a_foreign_word_says_no_more_than_the_querys_own(tmp_path: Path) -> None:
    """A word that is common in the query's language is no telling one where its translation is rare."""
    with open_workspace(tmp_path / "w") as memory:
        memory.remember("The gateway is in the lab.", category="fact", scope="global")
        for place in ("一楼", "二楼", "三楼", "四楼", "五楼", "六楼"):
            memory.remember(f"{place}有网关。", category="fact", scope="global")
        memory.remember("Visitors park behind the canteen.", category="fact", scope="global")
        common = recall_state(memory, "网关食堂")
        scores = memory.registry.ranker("translated").factory({}).scores(common.query, common.pool)
        texts = [common.pool.records([row])[0].text for row in range(common.pool.size)]
    assert (
        scores[texts.index("Visitors park behind the canteen.")]
        > scores[texts.index("The gateway is in the lab.")]
    )
