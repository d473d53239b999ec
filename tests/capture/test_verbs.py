"""English verbs: where they stand decides, in every spelling of a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core import build_registry
from olav_core.testing import VerbMatcherContract


def words(text: str) -> list[str]:
    return text.split()


STEMS = words(
    "register deploy push save destroy write record emit export ingest stop create update delete exec"
)
SPELLINGS = {
    "snake": lambda parts: "_".join(parts),
    "kebab": lambda parts: "-".join(parts),
    "camel": lambda parts: parts[0] + "".join(word.title() for word in parts[1:]),
    "pascal": lambda parts: "".join(word.title() for word in parts),
    "upper": lambda parts: "_".join(parts).upper(),
    "dotted": lambda parts: "netops." + "_".join(parts),
    "mcp": lambda parts: "mcp__some-server__" + "_".join(parts),
    "path": lambda parts: "tools/" + "_".join(parts),
}
match = build_registry().verb_matchers["verbs"].match


class TestContract(VerbMatcherContract):
    plugin = "olav_verbs"
    calls = {"createUser": "create", "deploy-lab": "deploy", "netops.push_config": "push", "exec": "exec"}  # noqa: RUF012
    reads = ("export_formats_list", "is_registered", "deploy_status")


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("stem", STEMS)
def test_every_stem_in_every_spelling(stem: str, spelling: str) -> None:
    assert match(SPELLINGS[spelling]([stem, "widget"])) == stem
    assert match(SPELLINGS[spelling](["list", stem, "widgets"])) is None


@given(
    st.sampled_from(["create_user", "github_create_issue", "get_user", "user_delete", "is_created", "stop"]),
    st.sampled_from(["a", "srv", "my-server", "tools"]),
)
def test_a_namespace_changes_nothing(name: str, namespace: str) -> None:
    for separator in (".", "__", "/", ":", "::"):
        assert match(f"{namespace}{separator}{name}") == match(name)


@pytest.mark.parametrize(
    ("forms", "verb"),
    [
        ("creates creating create", "create"),
        ("stopping stops stop", "stop"),
        ("executing execute execs exec", "exec"),
        ("writes writing write", "write"),
        ("copying copies copy", "copy"),
        ("redeploy redeploying", "redeploy"),
        ("unregister unregistering", "unregister"),
    ],
)
def test_inflections_are_one_verb(forms: str, verb: str) -> None:
    assert {match(f"{form}_big_widget") for form in forms.split()} == {verb}


@pytest.mark.parametrize("participle", ["created", "deleted", "stopped", "written", "registered", "sent"])
def test_a_participle_is_no_action(participle: str) -> None:
    for name in (
        f"{participle}_items",
        f"is_{participle}",
        f"{participle}_items_view",
        f"get_{participle}_at",
    ):
        assert match(name) is None


@pytest.mark.parametrize(
    "name",
    words(
        "last_update next_stop pending_deletes export_formats_list order_status record_count deploy_status"
        " record_by_id resolve_hostname update_available who_created on_delete dry_run_deploy preview_update"
        " write_todos TodoWrite update_todo_list final_answer settings orders creator_id"
    ),
)
def test_what_only_sounds_like_a_change(name: str) -> None:
    assert match(name) is None


@pytest.mark.parametrize(
    "name",
    words(
        "get_or_create_user search_and_replace task_list_create slack_post_message turn_on_light"
        " shut_down_host make_reservation open_ticket take_snapshot mark_all_read"
        " kubectl.apply.deployment rm createUserV2"
    ),
)
def test_changes_behind_other_words(name: str) -> None:
    assert match(name)


def test_a_team_adds_verbs_of_one_and_of_several_words() -> None:
    extended = build_registry().verb_matchers["verbs"].extend(["frobnicate", "cut_in", "下发"])
    assert extended("frobnicating_lab") == "frobnicate"
    assert extended("cutIn_traffic") == "cut-in"
    assert extended("list_frobnicated") is None
    assert extended("create_user") == "create"
    assert match("frobnicate_lab") is None


@given(st.text(max_size=300))
def test_any_name_gives_a_verb_or_none(name: str) -> None:
    verb = match(name)
    assert verb is None or verb
