"""The front matter of a Markdown file: YAML between two `---` lines at its top."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from olav_core.errors import PackageError

#: Front matter is a few lines; the bound keeps a hostile file from costing seconds of parsing.
MAX_BYTES = 64 * 1024
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)


def split_front_matter(text: str, *, name: str) -> tuple[Mapping[str, Any], str]:
    """Return (values, body) of a Markdown text; no values when it has no front matter.

    Raises PackageError, with the line in `name`, for what is no YAML mapping or is larger than MAX_BYTES.
    """
    found = _FRONT.match(text)
    if found is None:
        return {}, text.removeprefix("\ufeff")
    raw = found[1]
    if len(raw.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise PackageError(f"{name}: its front matter is larger than {MAX_BYTES:,} bytes. Shorten it.")
    import yaml

    try:
        # The Python loader, not the C one: nesting without end is an error there instead of a crash.
        values = yaml.load(raw, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise PackageError(f"{name}:{line}: its front matter is no YAML: {error.problem}. Mend it.") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise PackageError(f"{name}: its front matter is no YAML: {error}. Mend it.") from None
    if values is None:
        values = {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise PackageError(f"{name}: its front matter must be `key: value` lines.")
    return values, text[found.end() :]
