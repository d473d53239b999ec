"""Public names of a package that load when they are asked for, and what a missing library is told as."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    files = {
        "__init__": """
            from olav_core import lazy_names
            __getattr__ = lazy_names(
                __name__,
                {"Light": "light", "Heavy": "heavy", "Broken": "broken"},
                needs={"no_such_library": "acme[heavy]"},
            )
        """,
        "light": "class Light: ...",
        "heavy": "import no_such_library.part",
        "broken": "import no_such_other_library",
    }
    folder = tmp_path / "lazy_sample"
    folder.mkdir()
    for name, source in files.items():
        (folder / f"{name}.py").write_text(dedent(source), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module("lazy_sample")
    for name in [name for name in sys.modules if name.partition(".")[0] == "lazy_sample"]:
        del sys.modules[name]


def test_a_module_loads_when_its_name_is_asked_for(package: Any) -> None:
    assert "lazy_sample.light" not in sys.modules
    assert package.Light is sys.modules["lazy_sample.light"].Light
    assert "Light" in vars(package)  # found without asking from now on


def test_a_name_that_is_none(package: Any) -> None:
    with pytest.raises(AttributeError, match="module 'lazy_sample' has no attribute 'Lite'"):
        _ = package.Lite


def test_a_missing_library_names_what_to_install(package: Any) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"lazy_sample\.Heavy needs .*'acme\[heavy\]'") as told:
        _ = package.Heavy
    assert told.value.name == "no_such_library"


def test_a_library_that_nobody_named_is_told_by_python(package: Any) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'no_such_other_library'$"):
        _ = package.Broken


def test_asking_for_it_loads_nothing_heavy() -> None:
    code = "import sys; from olav_core import lazy_names; print({'numpy', 'attrs', 'click'} & {*sys.modules})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "set()"
