"""`olav new-plugin`: a plug-in distribution to start from, with its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from string import Template

import click
from attrs import frozen

from olav_core.cli.options import json_option
from olav_core.cli.terminal import Terminal
from olav_core.errors import WorkspaceError
from olav_core.host.validation import ID_PATTERN

_PREFIX = "olav-"


@frozen
class Kind:
    """A kind of plug-in: the end of its hook's name, what it is called, how it is used, what it needs."""

    hook: str
    what: str
    use: str
    requires: tuple[str, ...] = ()


KINDS = {
    "category": Kind(
        "categories",
        "Category",
        "Every workspace has it then. Numbers can be changed in `.olav/config.yaml`, section `categories`.",
        ("attrs>=24.1",),
    ),
    "embedder": Kind(
        "embedders",
        "Embedder",
        "A new workspace uses it with `olav init --embedder ${id}`, an old one with\n"
        "`olav kb reembed --to ${id}`.",
        ("numpy>=2.0",),
    ),
    "ranker": Kind(
        "rankers",
        "Ranker",
        "It takes part once `recall.rankers` in `.olav/config.yaml` lists `${id}`; as a boost it reaches\n"
        "the categories that name it in `boosts`.",
        ("numpy>=2.0",),
    ),
    "gate": Kind(
        "gates",
        "Gate",
        "A category uses it by `gates: [{id: ${id}}]` in `.olav/config.yaml`, or by its spec.",
    ),
    "redactor": Kind("redactors", "Redactor", "It runs on everything that is written from then on."),
    "verbs": Kind(
        "verb_matchers", "Verb matcher", "It is asked about every tool call that `olav` may capture."
    ),
    "middleware": Kind(
        "agent_middleware",
        "Agent middleware",
        'An agent gets it from `agent_middleware(memory, "langchain", use={"${id}": True})`, one of\n'
        "`olav_deepagents.create_agent` with the same `use`.",
        ("langchain>=1.5,<2",),
    ),
    "confirmation": Kind(
        "confirmations", "Confirmation lexicon", "A draft can be confirmed in its words from then on."
    ),
}


@click.command("new-plugin")
@click.argument("name")
@click.option("--kind", type=click.Choice(list(KINDS)), required=True, help="What it brings.")
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where to write it; default: ./olav-NAME.",
)
@json_option
def new_plugin(name: str, kind: str, directory: Path | None, as_json: bool) -> None:
    """Write a plug-in distribution that installs and passes its tests as it is.

    NAME is the id of what it brings, such as `ticket`; the distribution becomes olav-ticket, its module
    olav_ticket. Nothing that exists is written over.

    With --json: {"directory", "distribution", "module", "id", "kind", "files"}.
    """
    terminal = Terminal(as_json=as_json)
    id = _checked(name, kind)
    folder = directory or Path(f"{_PREFIX}{id.replace('_', '-')}")
    written = write_plugin(id, kind, folder)
    facts = {
        "directory": str(folder.absolute()),
        "distribution": f"{_PREFIX}{id.replace('_', '-')}",
        "module": module_of(id),
        "id": id,
        "kind": kind,
        "files": written,
    }
    steps = f"  cd {folder}\n  pip install -e '.[test]'\n  olav plugins\n  pytest"
    lines = "\n".join(f"  {path}" for path in written)
    terminal.result(facts, f"{KINDS[kind].what} '{id}' in {folder}:\n{lines}\n\nNext:\n{steps}")


def write_plugin(id: str, kind: str, folder: Path) -> list[str]:
    """Write the distribution into `folder` and return its files; raises WorkspaceError if any is there."""
    contents = dict(_contents(id, kind))
    there = sorted(path for path in contents if (folder / path).exists())
    if there:
        raise WorkspaceError(
            f"{folder} holds {', '.join(there)} already; nothing was written. Name another folder with --dir."
        )
    try:
        for path, text in contents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WorkspaceError(
            f"{folder} cannot be written: {error.strerror}. Name another folder with --dir."
        ) from error
    return sorted(contents)


def module_of(id: str) -> str:
    return f"olav_{id.replace('-', '_')}"


def _checked(name: str, kind: str) -> str:
    id = name.removeprefix(_PREFIX).removeprefix("olav_")
    if not ID_PATTERN.fullmatch(id):
        raise click.BadParameter(
            f"{name!r} is no id. Use lower-case ASCII letters, digits, `_` and `-`, a letter first, such as "
            "'ticket' or 'fan_alarm'.",
            param_hint="NAME",
        )
    taken = _taken(id, kind)
    if taken:
        raise click.BadParameter(f"{id!r} is taken: {taken}. Choose another name.", param_hint="NAME")
    return id


def _taken(id: str, kind: str) -> str:
    """Return who has this entry-point name, id or module already, empty when nobody has."""
    from olav_core.cli.extension import survey

    for info in survey(None).plugins:
        module = info.entry_point.partition(":")[0].partition(".")[0]
        if id == info.name or id in info.ids.get(KINDS[kind].hook, ()) or module == module_of(id):
            return f"{info.distribution} {info.version} brings it".replace("  ", " ")
    return ""


def _contents(id: str, kind: str) -> Iterator[tuple[str, str]]:
    words = re.split(r"[-_]+", id)
    requires = sorted({"olav-core>=0.1", *KINDS[kind].requires})
    values = {
        "id": id,
        "module": module_of(id),
        "distribution": f"{_PREFIX}{id.replace('_', '-')}",
        "Class": "".join(word.capitalize() for word in words),
        "title": " ".join(words).capitalize(),
        "what": KINDS[kind].what,
        "dependencies": ", ".join(f'"{requirement}"' for requirement in requires),
    }
    values["use"] = Template(KINDS[kind].use).substitute(values)
    templates = files("olav_core.cli") / "templates"
    for path, template in (
        (".gitignore", templates / "common" / "gitignore.txt"),
        ("README.md", templates / "common" / "README.md.txt"),
        ("pyproject.toml", templates / "common" / "pyproject.toml.txt"),
        (f"src/{values['module']}.py", templates / kind / "plugin.py.txt"),
        (f"tests/test_{values['module']}.py", templates / kind / "test.py.txt"),
    ):
        yield path, Template(template.read_text("utf-8")).substitute(values)
