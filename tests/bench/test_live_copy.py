"""The live workspace is opened to be read: nothing in it is brought to an end."""

from __future__ import annotations

from pathlib import Path

from olav_bench.live_copy import open_live

import olav_core


def test_an_interrupted_installation_of_the_live_workspace_is_left_as_it_is(tmp_path: Path) -> None:
    olav_core.init(tmp_path, embedder="hashing").close()
    waiting = tmp_path / ".olav" / "installing" / "0123" / "agents" / "x"
    waiting.mkdir(parents=True)
    note = tmp_path / ".olav" / "installing" / "0123.json"
    note.write_text('{"kind": "agents", "name": "x", "token": "0123", "install": true}', "utf-8")
    open_live(tmp_path).close()
    assert waiting.is_dir()
    assert note.is_file()
    olav_core.open(tmp_path).close()
    assert (tmp_path / ".olav" / "agents" / "x").is_dir()  # whoever opens it to work completes it
