"""Every code block of the documentation runs, page by page, in a folder of its own.

A line `<!-- file: PATH -->` before a block writes it to that file; `<!-- .ci/run -->` marks the blocks that
.ci/run executes itself (they install). `text` blocks are output; `python` blocks of a page share one process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^>]*?) -->\n+)?```(?P<language>\w*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)
RUN_BY_CI = {".ci/run", "test-command"}
LANGUAGES = {"python", "bash", "yaml", "toml", "json", "text"}


def blocks(page: Path) -> list[tuple[str, str, str]]:
    return [
        (m["mark"] or "", m["language"], m["code"]) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def run(command: list[str], folder: Path, cache: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command[-1]}\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_has_a_language_that_is_handled(page: Path) -> None:
    unknown = {language or "(none)" for _, language, _ in blocks(page)} - LANGUAGES - {"(none)"}
    assert not unknown, f"{page.name}: teach tests/test_docs.py about {unknown}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, model_cache: Path) -> None:
    python: list[str] = []

    def flush() -> None:
        if python:
            run([sys.executable, "-c", "\n".join(python)], tmp_path, model_cache)
            python.clear()

    for mark, language, code in blocks(page):
        if mark in RUN_BY_CI or page.name == "CONTRIBUTING.md":
            continue
        if mark.startswith("file: "):
            target = tmp_path / mark.removeprefix("file: ")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(code, encoding="utf-8")
        elif language == "python":
            python.append(code)
        elif language == "bash":
            flush()
            run(["bash", "-euo", "pipefail", "-c", code], tmp_path, model_cache)
        else:
            assert language in ("", "text"), (
                f"{page.name}: a {language} block needs a `<!-- file: … -->` line"
            )
    flush()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
