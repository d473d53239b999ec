"""kill -9 at any moment of an installation: afterwards one version is there, whole."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from package_files import skill_folder

import olav_core
from olav_core.packages.agents import install_agent, list_agents

TRIES = 6
VERSIONS = {
    "1.0": {f"rule_{n}": f"Rule {n} of the first version." for n in range(12)},
    "2.0": {f"rule_{n}": f"Rule {n} 第二版。" for n in range(6, 20)},
}


def test_a_killed_installation_leaves_one_version_whole(tmp_path: Path) -> None:
    sources = []
    for version, guides in VERSIONS.items():
        folder = tmp_path / f"v{version}"
        sources.append(str(skill_folder(folder, version=version, guides=guides, formats=())))
    root = tmp_path / "ws"
    with olav_core.init(root, embedder="hashing") as memory:
        install_agent(memory, Path(sources[0]))
        mine = memory.remember("a fact of ours", scope="analyzer").id
    chance = random.Random(7)
    for _ in range(TRIES):
        child = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("install_child.py")), str(root), *sources],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        child.stdout.readline()  # the first installation is through
        time.sleep(chance.uniform(0, 0.15))  # where it is killed, not what is waited for
        child.send_signal(signal.SIGKILL)
        child.wait()
        with olav_core.open(root) as memory:
            (agent,) = list_agents(memory.workspace)
            wanted = set(VERSIONS[agent.version].values()) | {"a fact of ours"}
            assert {row.text for row in memory.list()} == wanted
            assert memory.get(mine)
            names = {path.name for path in Path(agent.folder, "guides").iterdir()}
            assert names == {f"{intent}.guide.yaml" for intent in VERSIONS[agent.version]}
            assert list((root / ".olav" / "installing").glob("*.json")) == []
    with olav_core.open(root) as memory:
        install_agent(memory, Path(sources[0]))
    assert [path.name for path in (root / ".olav" / "installing").iterdir()] == [".lock"]
