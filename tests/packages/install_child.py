"""Installs two versions of an agent in turn until it is killed: `python install_child.py ROOT V1 V2`."""

from __future__ import annotations

import sys
from pathlib import Path

import olav_core
from olav_core.packages.agents import install_agent

if __name__ == "__main__":
    with olav_core.open(sys.argv[1]) as memory:
        for version in sys.argv[2:] * 1_000:
            install_agent(memory, Path(version))
            print(version, flush=True)
