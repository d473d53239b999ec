"""The page of cases lists tests that exist, and every case of the core has one."""

from __future__ import annotations

import re

import pytest
from case_page import CASES, PAGE, collect

CORE = [*range(1, 14), 15, 16, 31, 36, 39, 42, 43, *range(45, 49)]


def listed() -> dict[int, list[str]]:
    """Return what the page says: case -> tests."""
    sections = re.split(r"^## (\d+)\. .*$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    pairs = zip(sections[::2], sections[1::2], strict=True)
    return {int(number): re.findall(r"^- `(.+)`$", text, flags=re.MULTILINE) for number, text in pairs}


@pytest.mark.parametrize("number", sorted({*CORE, *CASES}))
def test_every_case_is_listed_with_tests_that_exist(number: int) -> None:
    tests = listed().get(number)
    assert tests, f"no test names case {number}"
    gone = sorted(set(tests) - set(collect()[number]))
    assert not gone, f"{gone}: run `python tests/cases/case_page.py`"
