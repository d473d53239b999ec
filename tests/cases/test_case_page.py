"""The page of cases is current and every case of the core has a test."""

from __future__ import annotations

import pytest
from case_page import CASES, PAGE, collect, page

CORE = [*range(1, 14), 15, 16, 31, 36, 39, 42, 43, *range(45, 49)]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python tests/cases/case_page.py`"


@pytest.mark.parametrize("number", sorted({*CORE, *CASES}))
def test_every_case_has_a_test(number: int) -> None:
    assert number in CASES
    assert collect().get(number), f"no test names case {number}"
