from datetime import UTC, datetime

import pytest

from olav_core.store import filters


def test_only_the_quote_is_escaped():
    assert filters.eq("scope", 'it\'s \\ "x" -- %_') == "scope = 'it''s \\ \"x\" -- %_'"


def test_nothing_is_in_an_empty_list():
    assert filters.in_("id", []) == "false"
    assert filters.in_ints("revision", []) == "false"


def test_parts_keep_their_own_brackets():
    assert filters.all_of("a = 1 OR b = 2", None, "c = 3") == "(a = 1 OR b = 2) AND (c = 3)"
    assert filters.all_of(None) is None
    assert filters.any_of("a = 1", "b = 2") == "(a = 1) OR (b = 2)"
    assert filters.any_of() == "false"


def test_a_moment_is_written_in_utc():
    moment = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert filters.until("expires_at", moment) == "expires_at <= timestamp '2026-01-02 03:04:05.000006'"


@pytest.mark.parametrize("column", ["id = 'x' OR id", "id;", "", "Id", "id\n"])
def test_a_column_is_a_name(column):
    with pytest.raises(ValueError, match="column name"):
        filters.eq(column, "x")


def test_a_value_is_a_string():
    with pytest.raises(TypeError, match="must be a string"):
        filters.eq("id", None)
