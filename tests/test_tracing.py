"""`OLAV_TRACE=1` tells what happens as it happens, on stderr, and nothing without it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from olav_core import Memory, build_registry
from olav_core.testing import FakeDistributions
from olav_core.tracing import switched_on

SOURCE = """
from olav_core import CategorySpec, hookimpl

@hookimpl
def olav_register_categories():
    return [CategorySpec(id="note", title="Note", purpose="Notes")]

@hookimpl
def olav_memory_written(record):
    pass
"""


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [" ".join(line.split()) for line in capsys.readouterr().err.splitlines()]


def test_hooks_specs_and_faults_are_told(
    olav_site: FakeDistributions, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OLAV_TRACE", "1")
    olav_site.add("acme-note", {"note": "acme_note"}, {"acme_note.py": SOURCE})
    olav_site.add("acme-bad", {"bad": "acme_bad"}, {"acme_bad.py": "1 /\n\n0"})
    build_registry(disabled=(), strict=False)
    told = lines(capsys)
    assert any(line.startswith("[olav] import acme-note:note") and line.endswith("ms") for line in told)
    assert any(line.startswith("[olav] import acme-bad:bad") and line.endswith("failed") for line in told)
    hook = next(line for line in told if "acme-note:note -> note" in line)
    assert hook.startswith("[olav] hook olav_register_categories")
    specs = next(line for line in told if line.startswith("[olav] specs categories"))
    assert {"fact,", "note,"} <= set(specs.split())
    fault = next(line for line in told if line.startswith("[olav] fault bad"))
    assert "acme-bad 1.0, entry point" in fault


def test_the_stages_of_a_recall_are_told(
    olav_open: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = olav_open()
    memory.remember("R1 is the border router")
    capsys.readouterr()
    monkeypatch.setenv("OLAV_TRACE", "1")
    memory.recall("border router")
    told = lines(capsys)
    stages = {line.split()[2] for line in told if line.startswith("[olav] stage")}
    assert {"sync", "bm25", "vector", "fuse", "boost", "gates", "select", "render"} <= stages
    assert any(
        line.startswith("[olav] recall core") and line.endswith("1 items; 1 injected") for line in told
    )


@pytest.mark.parametrize("value", ["", "0", "false", "No"])
def test_it_is_silent_when_it_is_off(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OLAV_TRACE", value)
    build_registry(disabled=())
    assert not switched_on("OLAV_TRACE")
    assert capsys.readouterr().err == ""
