"""`olav plugins` and `olav hooks`: the plug-in contract, seen from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

from olav_core import hookspecs


def test_hooks_are_all_there_with_their_signatures(object_of: Callable[..., Any]) -> None:
    hooks = object_of("hooks")["hooks"]
    assert {hook["name"] for hook in hooks} == {name for name in vars(hookspecs) if name.startswith("olav_")}
    for hook in hooks:
        assert hook["signature"].startswith(f"{hook['name']}(")
        assert hook["summary"]
        assert "Example:" in hook["doc"]


def test_one_hook_is_shown_whole(olav: Callable[..., Result], object_of: Callable[..., Any]) -> None:
    assert [hook["name"] for hook in object_of("hooks", "register_gates")["hooks"]] == ["olav_register_gates"]
    shown = olav("hooks", "olav_register_gates").stdout
    assert "Example:" in shown
    result = olav("hooks", "olav_register_gate")
    assert result.exit_code == 1
    assert "Did you mean 'olav_register_gates'?" in result.stderr


def test_plugins_tells_where_each_comes_from(object_of: Callable[..., Any]) -> None:
    found = object_of("plugins")
    assert found["faults"] == []
    by_name = {plugin["name"]: plugin for plugin in found["plugins"]}
    guide = by_name["usage_guide"]
    assert guide["distribution"] == "olav-core"
    assert guide["state"] == "loaded"
    assert guide["ids"]["categories"] == ["usage_guide"]
    assert guide["entry_point"] == "olav_usage_guide"
    assert Path(guide["file"]).name == "olav_usage_guide.py"
    assert "olav_register_categories" in guide["hooks"]
    assert guide["import_ms"] >= 0


def test_a_faulty_plugin_is_code_1_with_its_mend(
    olav: Callable[..., Result], object_of: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / ".olav" / "plugins"
    folder.mkdir(parents=True)
    (folder / "olav_bad.py").write_text("raise RuntimeError('boom')\n")
    found = object_of("plugins", code=1)
    (fault,) = found["faults"]
    assert fault["plugin"] == "olav_bad"
    assert "boom" in fault["message"]
    assert fault["mend"]
    states = {plugin["name"]: plugin["state"] for plugin in found["plugins"]}
    assert (states["olav_bad"], states["fact"]) == ("broken", "loaded")
    result = olav("plugins", "--long")
    assert result.exit_code == 1
    assert f"Mend: {fault['mend'][:20]}" in result.stdout


def test_a_switched_off_plugin_says_so(object_of: Callable[..., Any], monkeypatch: Any) -> None:
    monkeypatch.setenv("OLAV_DISABLE", "rrf,olav-core:bm25")
    states = {plugin["name"]: plugin["state"] for plugin in object_of("plugins")["plugins"]}
    assert states["bm25"] == "disabled"
    assert states["rrf"] == "disabled"
