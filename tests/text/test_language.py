"""Language by script."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core import language_of
from olav_core.text.language import languages_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("show ip interface brief", "en"),
        ("naïve café", "en"),
        ("变更必须走审批流程", "zh"),
        ("在核心交换机上执行 display interface", "zh"),
        ("在 R1 上执行 show ip interface brief", "en"),
        ("これはテストです", "ja"),
        ("設定を変更する前に承認が必要です", "ja"),
        ("네트워크 장비", "ko"),
        ("маршрутизатор не отвечает", "ru"),
        ("جهاز التوجيه", "ar"),
        ("", "en"),
        ("😀 123", "en"),
        ("\ud800", "en"),
    ],
)
def test_the_script_that_carries_more_words_decides(text: str, language: str) -> None:
    assert language_of(text) == language


@given(st.lists(st.one_of(st.none(), st.text()), max_size=20))
def test_bulk_and_single_agree(texts: list[str | None]) -> None:
    assert languages_of(texts) == [language_of(text or "") for text in texts]


@given(st.lists(st.text(st.sampled_from("核㐀豈 \u3000\nｱアあ가Жa１，。·𠀀"), max_size=8), max_size=20))
def test_bulk_and_single_agree_where_scripts_meet(texts: list[str]) -> None:
    assert languages_of(texts) == [language_of(text) for text in texts]


def test_an_arrow_array_is_taken_as_it_is() -> None:
    assert languages_of(pa.array(["plain", "中文文本", None])) == ["en", "zh", "en"]
