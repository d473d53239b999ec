"""format_and_export: a report as a file on the real disk, inside one folder."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from langchain_core.tools import BaseTool

from olav_core import strip_block, write_atomically
from olav_deepagents.strict import strict_tool

Format = Literal["md", "csv", "json", "html"]
NAME = "format_and_export"
MAX_CHARS = 20_000_000
MAX_NAME_BYTES = 200
_HELP = """Write a report to a file on disk. The only way to save a file.

- data: the whole content as one string: Markdown, CSV, JSON or HTML text. Never an object.
- format: one of md, csv, json, html.
- filename: a plain name such as bgp_report; folders are allowed, the ending is added."""


def export_tool(directory: str | os.PathLike[str]) -> BaseTool:
    """Return the tool `format_and_export(data, format, filename)` that writes below `directory` only."""
    root = Path(directory).expanduser().resolve()

    def format_and_export(data: str, format: Format, filename: str) -> str:
        text = _formatted(strip_block(data), format)
        path = _target(root, filename, format)
        existed = path.exists()
        _write(path, text)
        return json.dumps(
            {
                "status": "overwritten" if existed else "written",
                "path": str(path.relative_to(root)),
                "bytes": len(text.encode("utf-8")),
            },
            ensure_ascii=False,
        )

    tool: BaseTool = strict_tool(format_and_export, name=NAME, description=_HELP, capture=True)
    return tool


def _target(root: Path, filename: str, format: str) -> Path:
    name = filename.strip().replace("\\", "/")
    pure = PurePosixPath(name)
    parts = pure.parts
    if (
        not name
        or "\x00" in name
        or pure.is_absolute()
        or ".." in parts
        or ":" in name
        or name.startswith("~")
    ):
        raise ValueError(
            f"filename {filename!r} is not a name inside the export folder. Send a plain name such as "
            '"bgp_report", without "..", ":" or a leading "/".'
        )
    if any(part.startswith(".") for part in parts):
        raise ValueError(f"filename {filename!r} is hidden. Send a name that does not begin with a dot.")
    if pure.suffix.lower() != f".{format}":
        known = pure.suffix.lower() in (".md", ".csv", ".json", ".html", ".htm", ".markdown")
        pure = pure.with_suffix(f".{format}") if known else pure.with_name(f"{pure.name}.{format}")
    if any(len(part.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES for part in pure.parts):
        raise ValueError(f"filename is over {MAX_NAME_BYTES} bytes long. Send a shorter one.")
    path = (root / pure).resolve()  # follows links: one that leads out is refused
    if not path.is_relative_to(root) or path.is_dir():
        raise ValueError(
            f"filename {filename!r} leads out of the export folder or names a folder. Send another."
        )
    return path


def _formatted(data: str, format: str) -> str:
    if not data.strip():
        raise ValueError("data is empty. Send the whole content of the file as one string.")
    if len(data) > MAX_CHARS:
        raise ValueError(f"data has over {MAX_CHARS:,} characters. Write it in parts.")
    text = {"json": _json, "csv": _csv, "html": _html}.get(format, str)(data)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if text.endswith("\n") else f"{text}\n"


def _json(data: str) -> str:
    try:
        return json.dumps(json.loads(data), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"data is not JSON: {error}. Send valid JSON text, or format md.") from error


def _csv(data: str) -> str:
    """CSV as it is; a JSON list of flat objects becomes CSV, since small models send that."""
    try:
        rows: Any = json.loads(data)
    except (ValueError, RecursionError):
        return data
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return data
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _html(data: str) -> str:
    if "<" in data and "</" in data:
        return data
    return f'<!doctype html>\n<meta charset="utf-8">\n<pre>{html.escape(data)}</pre>'


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    except OSError as error:
        raise ValueError(
            f"{path.name} cannot be written: {error.strerror}. Send another filename."
        ) from error
