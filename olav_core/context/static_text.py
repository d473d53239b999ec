"""A file of an agent as text: its words, what it is about, and its element in the block of files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final
from xml.sax.saxutils import quoteattr

from attrs import frozen

from olav_core.packages.front_matter import split_front_matter
from olav_core.packages.skill import StaticFile, read_text

_OPEN, _CLOSE = "<agent-context>", "</agent-context>"
#: Markup of our own that a file must neither open nor close; the rest of it stays as it was written.
_OWN = re.compile(r"<(?=/?(?:agent-context|context-file|relevant-memories|memory)\b)", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
#: Of the text that is embedded: about 200 tokens say what a file is about; more would blur it.
MAX_ABOUT: Final = 800


@frozen(kw_only=True)
class StaticText:
    """`about` is what a query is compared with: name, keywords, description or first words, headings."""

    path: str
    text: str
    keywords: tuple[str, ...]
    about: str


def read_static(folder: Path, file: StaticFile) -> StaticText:
    """Read a file of the skill in `folder`; raises PackageError for what is no UTF-8 text.

    A front matter of its own may give `keywords` and `description`; it is not shown to the model.
    """
    values, body = split_front_matter(read_text(folder / file.path), name=file.path)
    own = values.get("keywords", [])
    keywords = (*file.keywords, *(map(str, own) if isinstance(own, list) else ()))
    text = body.strip()
    said = file.description or str(values.get("description", ""))
    prose = _HEADING.sub("", text).strip().split("\n\n")[0]
    stem = PurePosixPath(file.path).stem.replace("_", " ").replace("-", " ")
    pieces = [stem, ", ".join(keywords), said or prose, "; ".join(_HEADING.findall(text))]
    about = "\n".join(piece for piece in pieces if piece)[:MAX_ABOUT]
    return StaticText(path=file.path, text=text, keywords=tuple(dict.fromkeys(keywords)), about=about)


def render_file(layer: str, file: StaticText) -> str:
    """Return one `<context-file>` element."""
    head = f"<context-file layer={quoteattr(layer)} name={quoteattr(file.path)}>"
    return f"{head}\n{_OWN.sub('&lt;', file.text)}\n</context-file>"


def render_files(elements: Sequence[str]) -> str:
    """Return the block of files, empty when there are none."""
    return "\n".join([_OPEN, *elements, _CLOSE]) if elements else ""
