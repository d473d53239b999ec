"""docs/reference-hooks.md, from the hookspecs and specs: `python -m olav_core.host.hook_reference`."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import frozen

from olav_core import hookspecs, specs
from olav_core.host.implementations import REGISTER_PREFIX, known_hooks, new_host
from olav_core.host.validation import SPEC_TYPES

PAGE: Final = Path("docs", "reference-hooks.md")
#: Values that specs are made of, described after the hooks.
_PARTS: Final = (
    specs.GateUse,
    specs.Verdict,
    specs.Verdicts,
    specs.DistanceScale,
    specs.ModelIdentity,
    specs.Finding,
    specs.Draft,
    specs.Fault,
)
_PROTOCOLS: Final = (
    specs.Embedder,
    specs.Retriever,
    specs.Fuser,
    specs.Booster,
    specs.Reranker,
    specs.Diversifier,
    specs.Gate,
    specs.ArrayGate,
)

_HEAD: Final = """\
# Hooks

Generated from the docstrings by `python -m olav_core.host.hook_reference`; do not edit by hand.

A plug-in is a module that implements some of these hooks:

```python
from olav_core import CategorySpec, hookimpl


@hookimpl
def olav_register_categories():
    return [CategorySpec(id="ticket", title="Ticket", purpose="Solved tickets", quota=1, cap=2)]
```

It is found by an entry point, `[project.entry-points."olav.plugins"]` with `ticket = "olav_ticket"`, or as a
single file `.olav/plugins/ticket.py` of a workspace, which runs with your rights like any other code there.

- **Names.** Ids are lower-case ASCII letters, digits, `_` and `-`, a letter first, at most 64 characters.
- **Arguments.** An implementation takes the arguments shown, or fewer: no defaults, no keyword-only ones, no
  `async`. `tryfirst`, `trylast` and wrappers have no use here.
- **Order** is data, never load order: the specs' priority, then the distribution's name, then the id.
- **Faults** name the distribution, its version, the entry point, the spec, what is wrong and the mend. What
  is broken stays out, is logged as a warning and stands in `olav plugins`; the rest loads. A hook that fails
  takes out its whole plug-in, a wrong spec only itself. A fault in a built-in raises PluginError, and with
  `OLAV_STRICT=1` every fault does.
- **Conflicts.** A built-in keeps an id that another plug-in claims too; among others nobody gets it, whatever
  the load order. The same holds for entry-point names and for importers' suffixes.
- **Switches.** `OLAV_DISABLE=a,b` leaves out plug-ins by entry-point name or by `<distribution>:<name>` (they
  are not even imported), and single specs by id. A category that names a gate or boost that is switched off
  goes on without it.
- **Cost.** Importing a plug-in must be cheap: import lancedb, onnxruntime and the like inside factories.
"""


@frozen(kw_only=True)
class HookDoc:
    """One hook as documented: its signature, and its docstring cut into parts."""

    name: str
    signature: str
    purpose: str
    when: str
    returns: str
    more: str
    example: str
    spec: type | None


def hooks() -> tuple[HookDoc, ...]:
    """Return every hook in the order of the hookspecs module; a part that a docstring lacks is empty."""
    return tuple(_hook(name) for name in known_hooks(new_host()))


def page() -> str:
    """Return the whole page."""
    parts = [_HEAD]
    for doc in hooks():
        parts += [f"## {doc.name}", f"```text\n{doc.signature}\n```", doc.purpose]
        parts.append(f"- **When:** {doc.when}\n- **Returns:** {doc.returns}")
        parts += [doc.more] if doc.more else []
        parts.append(f"```python\n@hookimpl\n{_implementation(doc)}\n```")
        if doc.spec is not None:
            parts.append(_class(doc.spec, "###"))
    parts.append("## Values in specs")
    parts += [_class(cls, "###") for cls in _PARTS]
    parts.append("## What factories return")
    parts += [_protocol(cls) for cls in _PROTOCOLS]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with `--check` say whether it is current (exit code 1 when it is not)."""
    parser = argparse.ArgumentParser(prog="python -m olav_core.host.hook_reference", description=main.__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).parents[2] / PAGE)
    options = parser.parse_args(arguments)
    text = page()
    if not options.check:
        options.file.write_text(text, encoding="utf-8")
        return 0
    if options.file.is_file() and options.file.read_text("utf-8") == text:
        return 0
    print(f"{options.file} is stale. Run `python -m olav_core.host.hook_reference`.", file=sys.stderr)
    return 1


def _hook(name: str) -> HookDoc:
    function = getattr(hookspecs, name)
    paragraphs = [" ".join(p.split()) for p in (inspect.getdoc(function) or "").split("\n\n")]
    purpose = paragraphs[0]
    body = " ".join(p for p in paragraphs[1:] if not p.startswith("Example:"))
    sentences = re.split(r"(?<=[.!])\s+", body) if body else []
    when = next((s for s in sentences if s.startswith("Called")), "")
    returns = next((s for s in sentences if s.startswith("Return")), "")
    more = " ".join(s for s in sentences if s not in (when, returns))
    example = next((p.removeprefix("Example:").strip() for p in paragraphs if p.startswith("Example:")), "")
    return HookDoc(
        name=name,
        signature=_signature(name, function),
        purpose=purpose,
        when=_capital(when.removeprefix("Called ")),
        returns=_capital(returns.removeprefix("Return ")),
        more=more,
        example=example.strip("`"),
        spec=SPEC_TYPES.get(name.removeprefix(REGISTER_PREFIX)),
    )


def _implementation(doc: HookDoc) -> str:
    return doc.example if doc.example.startswith("def ") else f"def {doc.name}():\n    {doc.example}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _signature(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    arguments = ", ".join(f"{p.name}: {_type(p.annotation)}" for p in signature.parameters.values())
    return f"def {name}({arguments}) -> {_type(signature.return_annotation)}: ..."


def _class(cls: Any, heading: str) -> str:
    rows = [
        f"| `{field.name}` | `{_type(cls.__annotations__[field.name])}` | {_default(field)} |".replace(
            " | None", " \\| None"
        )
        for field in attrs.fields(cls)
    ]
    table = "\n".join(["| field | type | default |", "|---|---|---|", *rows])
    return f"{heading} {cls.__name__}\n\n{inspect.getdoc(cls)}\n\n{table}"


def _protocol(cls: type) -> str:
    methods = [
        _signature(name, value).replace("(self: , ", "(self, ")
        for name, value in vars(cls).items()
        if inspect.isfunction(value) and not name.startswith("_")
    ]
    text = inspect.getdoc(cls) if cls.__doc__ else ""
    return "\n\n".join(
        part for part in (f"### {cls.__name__}", text, "```text\n" + "\n".join(methods) + "\n```") if part
    )


def _type(annotation: Any) -> str:
    # Annotations are strings here (PEP 563), as written; attrs resolves its own copy in time.
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _default(field: attrs.Attribute[Any]) -> str:
    default = field.default
    if default is attrs.NOTHING:
        return "required"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return "empty"
    if isinstance(default, frozenset):
        return "all"
    if callable(default):
        return "the text"
    return f"`{default!r}`"


if __name__ == "__main__":
    sys.exit(main())
