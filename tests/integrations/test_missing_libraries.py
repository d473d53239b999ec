"""Without the extra, an integration says what to install; importing one stays cheap."""

from __future__ import annotations

import subprocess
import sys

import pytest

LANGCHAIN = ("langchain", "langchain_core", "langgraph")
BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Block())
"""


def run(blocked: tuple[str, ...], code: str) -> subprocess.CompletedProcess[str]:
    script = BLOCK.format(blocked=blocked) + code
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("blocked", "code", "extra"),
    [
        (
            ("langchain", "langchain_core", "langgraph"),
            "from olav_langchain import AutoRecallMiddleware",
            "langchain",
        ),
        (("langgraph",), "from olav_langchain import OlavStore", "langchain"),
        (("deepagents",), "from olav_deepagents import create_agent", "deepagents"),
        (("mcp", "mcp_types"), "from olav_core.cli.main import main; main(['mcp'])", "mcp"),
    ],
)
def test_what_to_install_is_said(blocked: tuple[str, ...], code: str, extra: str) -> None:
    done = run(blocked, code)
    assert done.returncode != 0
    assert f"pip install 'olav-core[{extra}]'" in done.stderr


def test_the_langchain_integration_needs_neither_deepagents_nor_mcp() -> None:
    code = "import olav_langchain as o; [getattr(o, name) for name in o.__all__]"
    assert run(("deepagents", "mcp"), code).returncode == 0


def test_the_registry_and_the_command_line_load_without_any_of_them() -> None:
    blocked = (*LANGCHAIN, "deepagents", "mcp", "pydantic")
    code = (
        "from olav_core import build_registry; r = build_registry(); assert 'item' in r.categories, r.faults"
    )
    done = run(blocked, code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["olav_langchain", "olav_deepagents", "olav_mcp"])
def test_importing_is_cheap(module: str) -> None:
    heavy = {"langchain", "langchain_core", "langgraph", "deepagents", "mcp", "pydantic", "lancedb", "numpy"}
    code = f"import {module}, sys; print(sorted({heavy!r} & {{m.partition('.')[0] for m in sys.modules}}))"
    done = run((), code)
    assert done.stdout.strip() == "[]"
